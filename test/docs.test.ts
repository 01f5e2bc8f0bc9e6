/** Links, paths and names of the docs lead somewhere, and their generated tables are those of the code. */
import assert from 'node:assert/strict'
import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { renderDocTables } from './harness/doc-tables.ts'
import { readSources } from './harness/read-sources.ts'

const root = join(import.meta.dirname, '..')

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** As GitHub makes them: lower case, without punctuation, hyphens for spaces. */
function anchorsOf(text: string): Set<string> {
  return new Set(
    Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

test('every relative link of a Markdown file leads to a file, and to a heading in it', async () => {
  const broken: string[] = []
  let count = 0
  for (const { file, text } of readSources('{.,bench,docs,web}/*.md', '{src,test}/**/*.md')) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      count += 1
      const [path = '', anchor] = target.split('#')
      const full = path === '' ? join(root, file) : join(root, dirname(file), path)
      const isGood =
        (await isThere(full)) &&
        (anchor === undefined || anchorsOf(await readFile(full, 'utf8')).has(anchor))
      if (!isGood) broken.push(`${file}: ${target}`)
    }
  }
  assert.ok(count > 20)
  assert.deepEqual(broken, [])
})

test('the code that the glossary names is there, and every term has a plain sentence', async () => {
  const text = await readFile(join(root, 'docs/glossary.md'), 'utf8')
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| term'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
  assert.ok(rows.length > 40)
  const missing: string[] = []
  for (const [, term = '', meaning = '', code = '', portuguese = ''] of rows) {
    assert.match(meaning, /^[A-Z].*\.$/, term)
    assert.notEqual(portuguese, '', term)
    for (const [, path = ''] of code.matchAll(/`([^`]+)`/g))
      if (!(await isThere(join(root, path)))) missing.push(`${term}: ${path}`)
  }
  assert.deepEqual(missing, [])
})

test('the tables of settings and metrics are those of the code (`npm run docs:tables`)', async () => {
  for (const [path, text] of Object.entries(renderDocTables()))
    assert.equal(await readFile(join(root, path), 'utf8'), text, path)
})

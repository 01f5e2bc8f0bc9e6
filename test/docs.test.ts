/** Links, paths and names of the docs lead somewhere, and their generated tables are those of the code. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
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

/** Names of other programs and clients, of files that are built, and of what is only designed. */
const FOREIGN = new Set([
  'SO_REUSEPORT',
  'catraca.config.json',
  'model_context_window',
  'moved_to',
  'opencode.json',
  'pg_verifybackup',
  'prices.json',
  'setTracingDisabled',
  'stream_max_retries',
  'web/dist',
])
/** A setting, a name in camel or snake case, a file, or an npm script. */
const NAME =
  /^(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]*)+|[a-z0-9]+(?:_[a-z0-9]+)+|[\w.][\w./-]*\.(?:tsx?|sql|md|yml|json|sh)|(?:src|test|web|bench|deploy|docs)\/[\w./-]+|npm run [\w:]+)(?=[({]|$)/

test('the docs name no file, script, setting or identifier that the code does not have', () => {
  const code = readSources(
    '{src,web,test,bench,deploy,.ci}/**/*.{ts,tsx,cjs,py,sql,yml,yaml,json,conf}',
    '{package.json,.env.example,catraca.config.schema.json}',
  ).filter(({ file }) => file !== 'test/docs.test.ts')
  const words = new Set(code.flatMap(({ text }) => text.match(/[A-Za-z_]\w*/g) ?? []))
  const { scripts } = JSON.parse(readSources('package.json')[0]?.text ?? '') as { scripts: object }
  const folders = '{*,{src,web,test,bench,deploy,docs}/**/*}'
  const files = globSync(folders, { cwd: root, exclude: ['**/node_modules'] }).map(
    (file) => `/${file}`,
  )
  const isThere = (name: string): boolean =>
    words.has(name) ||
    name.slice('npm run '.length) in scripts ||
    files.some((file) => file.endsWith(`/${name.replace(/\/$/, '')}`))
  const unknown = readSources('*.md', 'docs/*.md', '{src,web}/**/README.md').flatMap(
    ({ file, text }) =>
      Array.from(text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g))
        .flatMap(([, span = '']) => NAME.exec(span)?.[0] ?? [])
        .filter((name) => !FOREIGN.has(name) && !isThere(name))
        .map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(unknown, [])
})

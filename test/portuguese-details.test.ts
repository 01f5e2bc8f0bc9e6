/** What customers read is Portuguese: `details` of errors in the REST format, and the faults of forms. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
/** Words that an English sentence hardly does without, and that are no Portuguese word. */
const ENGLISH = /\b(the|must|again|may|at most|only|with|is|are|should|cannot|too|needs?)\b/
/** Codes of the specification. */
const CODES = /^(name must be 3-50 chars|amount must be number between )/

test('details of errors are in Portuguese', async () => {
  const found: string[] = []
  let read = 0
  for await (const file of glob('src/http/**/*.ts', { cwd: root })) {
    // Of `read-body.ts`: never shown.
    if (file.endsWith('.test.ts') || file.endsWith('read-body.ts')) continue
    const text = (await readFile(join(root, file), 'utf8')).replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
    const calls = text.matchAll(
      /(?:sendFault\(|RestRefusal\(|SecurityRefusal\(|restError\(|refusal\(|invalid\(|return |wrong:|message:)([^;{}]{0,300})/g,
    )
    for (const [, args = ''] of calls)
      for (const [, literal = ''] of args.matchAll(/['`]([^'`\n]*\s[^'`\n]*)['`]/g)) {
        read += 1
        if (ENGLISH.test(literal) && !CODES.test(literal)) found.push(`${file}: ${literal}`)
      }
  }
  assert.ok(read > 60, `${read} texts were read`)
  assert.deepEqual(found, [])
})

/** What was found to sound translated, or to name one thing with two words. */
const NOT_SAID =
  /Verificar uma conta|esta conta a alguém|conta levou|tentativas de chamadas|Outros de |\d %|metade das vezes|também a que falhou|sem ser por uso|Sumid[ao]s|História:|PTAX × margem|câmbio e margem|modo sandbox|\(sandbox\)|Feito por/

test('a customer reads one word for each thing, as a Brazilian would say it', async () => {
  const found: string[] = []
  for await (const file of glob(
    ['src/site/**/*.ts', 'src/deliveries/email/*.ts', 'web/src/**/*.{ts,tsx}', 'web/site/*.ts'],
    { cwd: root },
  )) {
    if (file.endsWith('.test.ts') || file.endsWith('contract.ts')) continue
    const text = (await readFile(join(root, file), 'utf8')).replaceAll(/\/\*[^]*?\*\/|\/\/.*/g, '')
    for (const line of text.split('\n')) if (NOT_SAID.test(line)) found.push(`${file}: ${line}`)
  }
  assert.deepEqual(found, [])
})

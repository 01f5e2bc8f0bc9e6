/** Operators read what was done, not the name of a constant: every act that the source records has words. */
import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { actionWords } from '../../web/src/pages/admin/audit-log/action-words.ts'

const root = join(import.meta.dirname, '../..')

test('every act of the audit log has words', async () => {
  const acts = new Set<string>()
  for await (const file of glob('src/**/*.ts', { cwd: root })) {
    if (file.endsWith('.test.ts')) continue
    const text = await readFile(join(root, file), 'utf8')
    for (const [, value = ''] of text.matchAll(/\b(?:action\s*[:=]|report\()([^,};]*)/g))
      for (const [, act = ''] of value.matchAll(/'([a-z_]+\.[a-z_]+)'/g)) acts.add(act)
  }
  assert.ok(acts.size > 50, `${acts.size} acts were found`)
  assert.deepEqual(
    [...acts].filter((act) => actionWords(act) === undefined),
    [],
  )
})

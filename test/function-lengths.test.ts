// deep: starts processes
import assert from 'node:assert/strict'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { measureFunctions } from './harness/measure-functions.ts'

const root = join(import.meta.dirname, '..')
/** Composition is read from top to bottom, so each of its functions fits on a screen. */
const COMPOSITION_LINES_MAX = 80

test(`no function of composition has more than ${COMPOSITION_LINES_MAX} lines`, async () => {
  const paths: string[] = []
  for await (const file of glob('src/app/**/*.ts', { cwd: root }))
    if (!file.endsWith('.test.ts')) paths.push(join(root, file))
  const functions = await measureFunctions(paths)
  assert.ok(functions.length > 50)
  assert.deepEqual(
    functions.filter(({ length }) => length > COMPOSITION_LINES_MAX),
    [],
  )
})

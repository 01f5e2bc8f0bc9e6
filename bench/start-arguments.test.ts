import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startArguments } from './start-arguments.ts'

test('the benchmarks start the server with the arguments of npm start', () => {
  const args = startArguments(join(import.meta.dirname, '..'))
  assert.equal(args.at(-1), 'src/main.ts')
  for (const flag of args.slice(0, -1)) assert.match(flag, /^--/)
})

// deep: starts processes
/** Of the errors that no test waits for, and of tests that are declared after an `await`. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const FOLLOW = import.meta.resolve('./follow-tests.ts')

test('each test belongs to the suite around it, and each late error to its test, as without the hooks', () => {
  const plain = run([])
  assert.match(plain, /not ok 3 - throws later/)
  assert.match(plain, /not ok 4 - rejects later/)
  assert.match(plain, /ok 1 - declared after a wait/)
  assert.equal(run(['--import', FOLLOW]), plain)
})

test('an error in a server that a hook or the file has started fails the test that runs', () => {
  for (const start of ['before(() => serve())', 'serve()']) {
    const results = run(['--import', FOLLOW], SERVER.replace('START', start))
    assert.match(
      results,
      /ok 1 - is quiet\n *not ok 2 - throws\n.*\n *not ok 3 - rejects\n.*\n *ok 4 - is quiet again/,
    )
  }
})

test('no hook runs for the promises of a test', () => {
  assert.match(run([], PROMISES), /[1-9]\d* promises have a number/)
  assert.match(run(['--import', FOLLOW], PROMISES), /0 promises have a number/)
})

const TREE = `
import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
await suite('waits', async () => {
  await sleep(1)
  const steps = []
  before(async () => { await sleep(1); steps.push('before') })
  beforeEach(() => void steps.push('each'))
  test('declared after a wait', () => assert.deepEqual(steps, ['before', 'each']))
  await sleep(1)
  suite('within', () => {
    before(() => void steps.push('within'))
    after(() => assert.equal(steps.length, 4))
    test('below', () => assert.deepEqual(steps, ['before', 'each', 'within', 'each']))
  })
})
test('outside', async (t) => {
  await sleep(1)
  await t.test('by its own context', () => sleep(1))
  await test('by the place', () => sleep(1))
})
test('throws later', async () => {
  setTimeout(() => { throw new Error('late') }, 1)
  await new Promise(() => {})
})
test('rejects later', async () => {
  void sleep(1).then(() => { throw new Error('nobody waits') })
  await new Promise(() => {})
})
`
/** The server answers at once, and fails a little later. */
const SERVER = `
import { EventEmitter, once } from 'node:events'
import { before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
const calls = new EventEmitter()
let waiting = []
function serve() {
  calls.on('call', (fault) => waiting.push(fault))
  setInterval(() => {
    const faults = waiting
    waiting = []
    for (const fault of faults) {
      if (fault === 'reject') void sleep(1).then(() => { throw new Error('nobody waits') })
      else throw new Error('late')
    }
  }, 1).unref()
}
await suite('a file', async () => {
  START
  test('is quiet', () => sleep(5))
  test('throws', async () => { calls.emit('call', 'throw'); await sleep(100) })
  test('rejects', async () => { calls.emit('call', 'reject'); await sleep(100) })
  test('is quiet again', () => sleep(5))
})
`
const PROMISES = `
import { test } from 'node:test'
test('a wait', async () => {
  const promise = Promise.resolve()
  await promise
  const numbered = Object.getOwnPropertySymbols(promise).length
  console.log(numbered + ' promises have a number')
})
`

/** Returns the names and results, without the times and places. */
function run(more: readonly string[], text = TREE): string {
  const file = join(mkdtempSync(join(tmpdir(), 'catraca-follow-')), 'tree.test.mjs')
  writeFileSync(file, text)
  // Without the run's own imports, and as the first process of a run.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = spawnSync(process.execPath, [...more, '--test-reporter=tap', file], {
    encoding: 'utf8',
    env,
  })
  const lines = stdout.split('\n')
  return lines
    .filter(
      (line) =>
        /^\s*(?:not )?ok |^# |promises have|failureType/.test(line) &&
        !line.startsWith('# duration'),
    )
    .join('\n')
}

// deep: a server of several processes
/** How a server with several workers ends: by its parent's death, and because its workers cannot be kept running. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { after, afterEach, before, test } from 'node:test'
import { LEASE_SECONDS } from '../../src/money/ledger/lease.ts'
import { seedCustomer } from '../harness/test-database.ts'
import type { TestNode } from '../harness/test-node.ts'
import { workersOf } from '../harness/workers-of.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import {
  call,
  createWorkerWorld,
  holdersOf,
  SLOW,
  until,
  type WorkerWorld,
} from './worker-world.ts'

const STARTS_MAX = 5

let world: WorkerWorld

before(async () => {
  world = await createWorkerWorld()
})

after(() => world.close())
afterEach(() => world.calmDown())

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('when the parent is killed, the workers let their calls end and exit, and a new start serves', async () => {
  const { secret } = await seedCustomer(world.database.db, { balanceBrl: '1000' })
  // The new start, which may be slow, comes before the end of the call.
  const killed = await world.start({ env: { DRAIN_SECONDS: '120' } })
  await until('the workers are ready', () => workersOf(killed).length === 2)
  const workers = workersOf(killed)
  const running = call(killed, secret, { model: SLOW })
  await until('the call runs', () => world.waiting() === 1)
  await killed.stop('SIGKILL')
  const again = await world.start({ last: killed })
  // An old worker may have answered the question whether the server is up.
  await until('the new workers are ready', () => workersOf(again).length === 2)
  world.finish()
  assert.ok((await running).isWhole)
  await until('the old workers are gone', () => !workers.some(({ pid }) => isRunning(pid)))
  assert.equal((await call(again, secret)).status, 200)
  await until('no hold is open', async () => (await holdersOf(world.database)).length === 0)
  await assertAudit(world.database)
  await again.stop()
})

test('a worker that is stopped while its parent is killed keeps the port only until the next start', async () => {
  const { secret } = await seedCustomer(world.database.db, { balanceBrl: '1000' })
  const killed = await world.start({ env: { DRAIN_SECONDS: '120' } })
  await until('the workers are ready', () => workersOf(killed).length === 2)
  const workers = workersOf(killed)
  const running = call(killed, secret, { model: SLOW })
  await until('the call runs', () => world.waiting() === 1)
  const stoppedAtMs = performance.now()
  for (const { pid } of workers) process.kill(pid, 'SIGSTOP')
  await killed.stop('SIGKILL')
  let again: TestNode | undefined
  let starts = 0
  try {
    // A start on the port may come before a worker has closed it; a supervisor repeats it.
    await until('a new start serves', async () => {
      starts += 1
      again = await world.start({ last: killed }).catch(() => undefined)
      if (again === undefined && starts > STARTS_MAX) throw new Error('the port stays taken')
      return again !== undefined
    })
  } finally {
    for (const { pid } of workers) if (isRunning(pid)) process.kill(pid, 'SIGCONT')
  }
  // A worker that was stopped for longer than its lease delivers nothing.
  const mayBeCut = performance.now() - stoppedAtMs > (LEASE_SECONDS * 1_000) / 2
  world.finish()
  const { isWhole } = await running
  assert.ok(isWhole || mayBeCut)
  await until('the old workers are gone', () => !workers.some(({ pid }) => isRunning(pid)))
  await until('no hold is open', async () => (await holdersOf(world.database)).length === 0)
  await assertAudit(world.database)
  await again?.stop()
})

test('a server whose workers cannot start ends and says why', async () => {
  const node = await world.start()
  await until('the workers are ready', () => workersOf(node).length === 2)
  const exited = once(node.process, 'exit')
  await writeFile(world.configPath, '{ "models": ')
  for (const { pid } of workersOf(node)) process.kill(pid, 'SIGKILL')
  const [code] = await exited
  assert.equal(code, 1)
  const text = node.log.find((line) => line.startsWith('Catraca stops: '))
  assert.match(text ?? '', /workers in a row died soon after their start.*the configuration has/)
})

test('a port that is taken ends the start with a reason', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  await assert.rejects(
    world.start({ env: { PORT: String(port), CATRACA_CONFIG: '' } }),
    /Catraca could not start: port \d+ of 127.0.0.1 is taken/,
  )
  other.close()
})

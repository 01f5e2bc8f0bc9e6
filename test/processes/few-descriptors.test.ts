// deep: a server of several processes
/** A server that may open few files and connections goes on serving as many calls as these allow. */
import { BY_OPERATOR } from '../harness/ask.ts'
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { assertAudit } from '../harness/assert-audit.ts'
import { seedCustomer } from '../harness/test-database.ts'
import type { TestNode } from '../harness/test-node.ts'
import {
  call,
  createWorkerWorld,
  FAST,
  holdersOf,
  SLOW,
  until,
  untilReplaced,
  type Answer,
  type WorkerWorld,
} from './worker-world.ts'

const DESCRIPTORS = 256
const STREAMS = 400

let world: WorkerWorld
let secret: string

before(async () => {
  world = await createWorkerWorld()
  ;({ secret } = await seedCustomer(world.database.db, { balanceBrl: '1000' }))
})

after(() => world.close())

for (const workers of [1, 2]) {
  describe(`with ${DESCRIPTORS} descriptors and ${workers === 1 ? 'one process' : 'two workers'}`, () => {
    let node: TestNode
    let servedMax: number

    before(async () => {
      const env = { WORKERS: String(workers), CALLS_AT_ONCE_MAX: '1000' }
      node = await world.start({ env, descriptors: DESCRIPTORS })
      if (workers > 1) await untilReplaced(node, [])
      servedMax = await read(node, 'catraca_connections_max')
    })

    after(() => node.stop())

    test('the start warns of them', () => {
      const warnings = node.log.filter((line) => line.includes('"few_descriptors"'))
      assert.equal(warnings.length, 1)
      assert.match(warnings[0] ?? '', /"descriptors":256/)
    })

    for (const time of ['first', 'second']) {
      test(`of ${STREAMS} streams at once, the ${time} time, it serves what fits and refuses the others`, async () => {
        const ended: Answer[] = []
        const all = Array.from({ length: STREAMS }, () =>
          call(node, secret, { model: SLOW, isStream: true }).then((answer) => {
            ended.push(answer)
            return answer
          }),
        )
        await until(
          'each stream is served or refused',
          () => ended.length + world.waiting() === STREAMS,
          node,
        )
        const served = world.waiting()
        // The operating system does not divide new connections evenly among workers.
        assert.ok(served > servedMax / 4 && served <= servedMax, `${served} of ${servedMax}`)
        const answered = ended.filter(({ status }) => status !== 0)
        assert.ok(answered.length > 0)
        for (const { status, text, retryAfter } of answered) {
          assert.equal(status, 503)
          assert.equal(
            (JSON.parse(text) as { error: { code: string } }).error.code,
            'service_unavailable',
          )
          assert.match(retryAfter ?? '', /^\d+$/)
        }
        assert.ok((await read(node, 'catraca_connections_refused')) >= answered.length)
        const probe = await fetch(`http://127.0.0.1:${node.port}/readyz`)
        assert.deepEqual([probe.status, await probe.text()], [200, '{"status":"ok"}'])

        world.finish()
        const whole = (await Promise.all(all)).filter(({ isWhole }) => isWhole)
        assert.equal(whole.length, served)
        await until('no hold is open', async () => (await holdersOf(world.database)).length === 0)
        const next = await call(node, secret, { model: FAST })
        assert.equal(next.status, 200, next.text)
      })
    }
  })
}

test('the books are whole', () => assertAudit(world.database))

async function read({ port }: TestNode, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, BY_OPERATOR)).text()
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]
  assert.ok(found, text.slice(0, 500))
  return Number(found)
}

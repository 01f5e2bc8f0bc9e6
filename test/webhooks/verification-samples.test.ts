// deep: starts processes
/** The code that the documentation gives receivers, run on deliveries as they are sent. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { webhookSamples } from '../../src/site/docs/guides/webhooks.ts'
import { signWebhook } from '../../src/deliveries/webhooks/sign-webhook.ts'
import {
  createDelivery,
  deliverAll,
  queueEvent,
  seedWebhook,
  startReceiver,
  type Received,
} from '../harness/webhook-receiver.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

/** What a receiver's program adds to the sample: it reads deliveries and says which it takes. */
const PROGRAMS: Readonly<Record<string, { file: string; run: string; rest: string }>> = {
  javascript: {
    file: 'conferir.mjs',
    run: process.execPath,
    rest: `
import { readFileSync } from 'node:fs'
const { segredo, entregas } = JSON.parse(readFileSync(0, 'utf8'))
console.log(JSON.stringify(entregas.map(({ cabecalhos, corpo }) => conferir(segredo, cabecalhos, Buffer.from(corpo)))))`,
  },
  python: {
    file: 'conferir.py',
    run: 'python3',
    rest: `
import json, sys
dados = json.load(sys.stdin)
print(json.dumps([conferir(dados["segredo"], e["cabecalhos"], e["corpo"].encode()) for e in dados["entregas"]]))`,
  },
}

let database: TestDatabase
let folder: string
before(async () => {
  database = await createTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'catraca-samples-'))
})
after(async () => {
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

for (const [id, { file, run, rest }] of Object.entries(PROGRAMS)) {
  const isThere = spawnSync(run, ['--version']).status === 0
  test(
    `the ${id} sample takes a real delivery, and none that was changed, is old, or has another's secret`,
    { skip: !isThere && `there is no ${run}` },
    async () => {
      const code = webhookSamples.find((sample) => sample.id === id)?.code
      await writeFile(join(folder, file), `${code}\n${rest}\n`)
      const { received, signingSecret } = await deliverOne()
      const judge = (segredo: string, entregas: readonly Delivered[]): boolean[] => {
        const input = JSON.stringify({ segredo, entregas })
        const { stdout, stderr } = spawnSync(run, [join(folder, file)], { input })
        assert.equal(String(stderr), '')
        return JSON.parse(String(stdout))
      }
      const real = asDelivered(received)
      const { cabecalhos, corpo } = real
      const older = Number(cabecalhos['webhook-timestamp']) - 3_600
      const secret = Buffer.from(signingSecret.replace('whsec_', ''), 'base64')
      const message = { id: String(cabecalhos['webhook-id']), timestampSeconds: older, body: corpo }
      const recorded = {
        'webhook-timestamp': String(older),
        'webhook-signature': signWebhook(secret, message),
      }
      const signature = String(cabecalhos['webhook-signature'])
      const deliveries = [
        real,
        { ...real, corpo: corpo.replace('50', '51') },
        { corpo, cabecalhos: { ...cabecalhos, ...recorded } },
        { corpo, cabecalhos: { ...cabecalhos, 'webhook-id': 'outra' } },
        { corpo, cabecalhos: { ...cabecalhos, 'webhook-signature': `v1,AAAA ${signature}` } },
        { corpo, cabecalhos: { ...cabecalhos, 'webhook-signature': 'v1,AAAA' } },
      ]
      assert.deepEqual(judge(signingSecret, deliveries), [true, false, false, false, true, false])
      const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
      assert.deepEqual(judge(other, [real]), [false])
    },
  )
}

interface Delivered {
  readonly cabecalhos: Readonly<Record<string, unknown>>
  readonly corpo: string
}

function asDelivered({ headers, body }: Received): Delivered {
  return { cabecalhos: headers, corpo: body }
}

async function deliverOne(): Promise<{ received: Received; signingSecret: string }> {
  const receiver = await startReceiver()
  try {
    const { customerId, signingSecret } = await seedWebhook(database.db, receiver.url)
    await queueEvent(database.db, customerId, { amount_brl: '50', note: 'ação' })
    await deliverAll(createDelivery(database.db))
    const [received] = receiver.received
    assert.ok(received)
    return { received, signingSecret }
  } finally {
    receiver.close()
  }
}

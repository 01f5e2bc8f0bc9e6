// deep: an attack
/** Forms with many long fields, whose ends never come: the fields wait in memory, the file alone on the disk. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BY_OPERATOR, ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { askForm, beginForm, partHead, wav } from '../harness/media-calls.ts'

const BODY_BYTES_MAX = 2_500_000
const FIELD = 'x'.repeat(250_000)
const FIELDS = 20

let gateway: TestGateway

before(async () => {
  gateway = await startGateway({
    BODY_BYTES_MAX: String(BODY_BYTES_MAX),
    // One customer may always have one whole body.
    BODIES_BYTES_MAX: String(2 * BODY_BYTES_MAX),
  })
})

after(() => gateway.stop())

async function untilNothingCounts(): Promise<void> {
  for (let bytes = NaN; bytes !== 0; await sleep(20)) {
    const { text } = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', BY_OPERATOR)
    bytes = Number(/^catraca_body_bytes (\d+)$/m.exec(text)?.[1])
  }
}

test('the fields of a form count for the memory of its customer while it is read', async () => {
  const sending = beginForm(gateway.node.baseUrl, gateway.secret)
  for (let field = 0; field < FIELDS; field++)
    await sending.write(Buffer.concat([partHead(`f${field}`), Buffer.from(`${FIELD}\r\n`)]))
  const answer = await Promise.race([sending.answer, sleep(5_000)])
  assert.equal(answer?.status, 429)
  sending.leave()
  await untilNothingCounts()
})

test('after its call nothing of a form counts, whether it was answered or refused', async () => {
  const { secret, node } = gateway
  const model = ['model', 'sandbox-transcribe'] as const
  const file = ['file', wav(1), 'a.wav'] as const
  const whole = await askForm(node.baseUrl, secret, [model, ['prompt', 'Olá'], file])
  assert.equal(whole.status, 200, whole.text)
  assert.equal((await askForm(node.baseUrl, secret, [model, ['prompt', FIELD]])).status, 400)
  const unknown = await askForm(node.baseUrl, secret, [['model', 'none'], file])
  assert.equal(unknown.status, 404)
  const left = beginForm(node.baseUrl, secret)
  await left.write(Buffer.concat([partHead('prompt'), Buffer.from(`${FIELD}\r\n`)]))
  left.leave()
  await untilNothingCounts()
})

// deep: an attack
/** Images of an upstream, by address or in its answer, count in the memory for the customer's calls. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { UNPAID_WORK } from '../../src/gateway/calls/call-upstream.ts'
import { BY_OPERATOR, ask, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured, theOutcome } from '../harness/media-calls.ts'
import { startOpenAiUpstream, type OpenAiUpstream } from '../harness/openai-upstream.ts'

const MIB = 1024 * 1024
/** A customer has a quarter of it: eight, of which a call of one image takes four before it is sent. */
const BODIES_BYTES_MAX = 32 * MIB

let upstream: OpenAiUpstream
let gateway: TestGateway

before(async () => {
  upstream = await startOpenAiUpstream()
  gateway = await startGateway({
    ...configured({
      upstreams: [{ id: 'images', kind: 'openai-compatible', base_url: `${upstream.origin}/v1` }],
      models: [
        {
          id: 'painter',
          category: 'image',
          prices: { images: { default: '0.01' } },
          markup_multiplier: '1.5',
          routes: [{ upstream: 'images', model: 'painter' }],
        },
      ],
    }),
    BODIES_BYTES_MAX: String(BODIES_BYTES_MAX),
    BODY_BYTES_MAX: String(MIB),
  })
})

after(async () => {
  await gateway?.stop()
  await upstream?.close()
})

let paintings = 0

/** The upstream answers with an image of this size in base64, or with its address. */
function paint(bytes: number, by: 'url' | 'b64_json' = 'url'): Promise<Asked> {
  const { baseUrl } = gateway.node
  upstream.answerWith((request, response) => {
    const image = Buffer.alloc(bytes, 7)
    if (request.url === '/img') return void response.end(image)
    paintings += 1
    const value = by === 'url' ? `${upstream.origin}/img` : image.toString('base64')
    response.end(JSON.stringify({ data: [{ [by]: value }] }))
  })
  const body = { model: 'painter', prompt: 'Uma catraca' }
  return ask(baseUrl, '/images/generations', { secret: gateway.secret, body })
}

test('an image that does not fit into the memory of its customer is refused and not charged, and its bytes are given back', async () => {
  for (const by of ['url', 'b64_json'] as const) {
    const large = await paint(10 * MIB, by)
    assertRefusal(large, 429, 'rate_limit_exceeded')
    const { outcome, cost_billed_nano_brl: billed } = await theOutcome(gateway, large.requestId)
    assert.deepEqual([outcome, billed], ['released', 0n])
    for (let call = 0; call < 3; call++) {
      const small = await paint(2 * MIB, by)
      assert.equal(small.status, 200, small.text.slice(0, 300))
    }
  }
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
  const metrics = await (await fetch(new URL('/metrics', gateway.node.baseUrl), BY_OPERATOR)).text()
  assert.match(metrics, /^catraca_body_bytes 0$/m)
})

test('a customer whose images never fit has the upstream draw few of them for nothing', async () => {
  const large = Array.from({ length: UNPAID_WORK.max }, () => () => paint(7 * MIB, 'b64_json'))
  for (const ask of large) assertRefusal(await ask(), 429, 'rate_limit_exceeded')
  paintings = 0
  const refused = await paint(MIB)
  assertRefusal(refused, 429, 'rate_limit_exceeded')
  assert.match(refused.text, /última hora/)
  assert.equal(paintings, 0)
})

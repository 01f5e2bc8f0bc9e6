/** Images that an upstream gives by address count in the memory for the customer's calls. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
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

/** The upstream answers with the address of an image of this size. */
function paint(bytes: number): Promise<Asked> {
  const { baseUrl } = gateway.node
  upstream.answerWith((request, response) => {
    if (request.url === '/img') response.end(Buffer.alloc(bytes, 7))
    else response.end(JSON.stringify({ data: [{ url: `${upstream.origin}/img` }] }))
  })
  const body = { model: 'painter', prompt: 'Uma catraca' }
  return ask(baseUrl, '/images/generations', { secret: gateway.secret, body })
}

test('an image that does not fit into the memory of its customer is refused and not charged, and its bytes are given back', async () => {
  const large = await paint(10 * MIB)
  assertRefusal(large, 429, 'rate_limit_exceeded')
  const { outcome, cost_billed_nano_brl: billed } = await theOutcome(gateway, large.requestId)
  assert.deepEqual([outcome, billed], ['released', 0n])
  for (let call = 0; call < 3; call++) {
    const small = await paint(2 * MIB)
    assert.equal(small.status, 200, small.text.slice(0, 300))
  }
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
  const metrics = await (await fetch(new URL('/metrics', gateway.node.baseUrl))).text()
  assert.match(metrics, /^catraca_body_bytes 0$/m)
})

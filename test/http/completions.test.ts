/** Text completions over real sockets, by the official client: answers, streams, refusals, and their charges. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import OpenAI from 'openai'
import { ask, billedIn, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { outcomesOf } from '../harness/media-calls.ts'
import { seedCustomer } from '../harness/test-database.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

const complete = (secret: string, body: object): Promise<Asked> =>
  ask(gateway.node.baseUrl, '/completions', { secret, body: { model: 'sandbox-chat', ...body } })

test('a prompt is answered as text and charged what the answer says', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const answer = await complete(secret, { prompt: 'Oi', max_tokens: 8 })
  assert.equal(answer.status, 200, answer.text)
  const { object, choices, usage } = answer.json
  assert.equal(object, 'text_completion')
  assert.ok(choices[0].text.length > 0)
  assert.deepEqual(Object.keys(choices[0]).sort(), ['finish_reason', 'index', 'logprobs', 'text'])
  assert.ok(usage.completion_tokens <= 8)
  await untilNoHoldIsOpen(gateway.database)
  const [outcome] = await outcomesOf(gateway, answer.requestId)
  assert.equal(outcome?.outcome, 'charged')
  assert.ok(Number(billedIn(answer.text)) > 0)
  await assertAudit(gateway.database)
})

test('the official client reads whole and streamed completions', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const client = new OpenAI({ baseURL: gateway.node.baseUrl, apiKey: secret, maxRetries: 0 })
  const asked = { model: 'sandbox-chat', prompt: 'Conte até três.', max_tokens: 60 }
  const whole = await client.completions.create(asked)
  const stream = await client.completions.create({
    ...asked,
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  let tokens: number | undefined
  let reason: string | null = null
  for await (const chunk of stream) {
    text += chunk.choices[0]?.text ?? ''
    reason = chunk.choices[0]?.finish_reason ?? reason
    tokens = chunk.usage?.completion_tokens ?? tokens
  }
  assert.equal(text, whole.choices[0]?.text)
  assert.equal(reason, whole.choices[0]?.finish_reason)
  assert.equal(tokens, whole.usage?.completion_tokens)
})

test('without a limit an answer has at most the sixteen tokens that the format says', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const { json } = await complete(secret, { prompt: ['Conte até mil.'] })
  assert.ok(json.usage.completion_tokens <= 16, JSON.stringify(json))
})

test('what no chat can do is refused, charged nothing, and named', async () => {
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const refused: readonly (readonly [object, string])[] = [
    [{}, 'prompt'],
    [{ prompt: '' }, 'prompt'],
    [{ prompt: ['um', 'dois'] }, 'prompt'],
    [{ prompt: [1, 2, 3] }, 'prompt'],
    [{ prompt: [[1, 2, 3]] }, 'prompt'],
    [{ prompt: { text: 'Oi' } }, 'prompt'],
    [{ prompt: 'def f(', suffix: ')' }, 'suffix'],
    [{ prompt: 'Oi', echo: true }, 'echo'],
    [{ prompt: 'Oi', logprobs: 3 }, 'logprobs'],
    [{ prompt: 'Oi', best_of: 4 }, 'best_of'],
    [{ prompt: 'Oi', max_tokens: 0 }, 'max_tokens'],
  ]
  for (const [body, field] of refused) {
    const answer = await complete(secret, body)
    assertRefusal(answer, 400, 'invalid_request')
    assert.match(answer.json.error.message, new RegExp(field))
    assert.deepEqual(await outcomesOf(gateway, answer.requestId), [])
  }
})

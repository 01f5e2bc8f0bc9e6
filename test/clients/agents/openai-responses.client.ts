/** Client libraries that call the Responses format, in their default settings: only address and key are set. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MODELS, startAgentsGateway, type AgentsGateway } from './agents-gateway.ts'
import { runClient } from './run-client.ts'

let agents: AgentsGateway

before(async () => {
  agents = await startAgentsGateway()
})

after(() => agents.stop())

async function runProgram(client: string, model: string): Promise<any> {
  const { code, stdout, stderr } = await runClient(
    process.execPath,
    [join(import.meta.dirname, './openai-responses-program.mjs')],
    {
      OPENAI_BASE_URL: agents.gateway.node.baseUrl,
      OPENAI_API_KEY: agents.gateway.secret,
      MODEL: model,
      CLIENT: client,
    },
  )
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

const ASKED = [
  ['clima', { cidade: 'Recife' }],
  ['clima', { cidade: 'Belém' }],
]
const REPORT = /A ferramenta clima devolveu: “sol”/

for (const [format, model] of Object.entries(MODELS)) {
  const over = `, over an upstream of ${format}`
  test(`openai: plain, streamed, a loop of tools and a compaction in the Responses format, and a moderation, are charged by the upstream’s count${over}`, async () => {
    const run = await runProgram('openai', model)
    const { texts, store, asked, answer, flagged, compacted, counts, continued, refused } = run
    assert.match(texts[0], /Olá, catraca!/)
    assert.deepEqual(texts, [texts[0], texts[0], texts[0]])
    assert.equal(store, false)
    assert.deepEqual(asked, ASKED)
    assert.match(answer, REPORT)
    assert.deepEqual(flagged, [false, true])
    assert.deepEqual(compacted, ['message', 'compaction'])
    assert.equal(counts, true)
    assert.notEqual(continued, '')
    assert.deepEqual(refused, { name: 'BadRequestError', status: 400, code: 'invalid_request' })
    await agents.assertCharges(8)
  })

  test(`the AI SDK: a loop of three steps in its default settings, plain and streamed, and a second turn with the option that its refusal names${over}`, async () => {
    const run = await runProgram('ai-sdk', model)
    const { steps, asked, answer, streamedAnswer, refused, continued } = run
    assert.equal(steps, 3)
    assert.deepEqual(asked, [...ASKED, ...ASKED])
    assert.match(answer, REPORT)
    assert.equal(streamedAnswer, answer)
    assert.match(refused, /"store: false" em providerOptions/)
    assert.match(continued, /Olá, catraca!/)
    await agents.assertCharges(8)
  })

  test(`openai and the AI SDK in its default settings: stored responses are read, continued and deleted${over}`, async () => {
    const { openai, aiSdk } = await agents.withStoredResponses(() => runProgram('stored', model))
    assert.equal(openai.store, true)
    assert.equal(openai.retrieved, openai.answered)
    assert.deepEqual(openai.items, ['user', 'assistant', 'user'])
    assert.deepEqual(openai.afterDeletion, { name: 'NotFoundError', code: 'response_not_found' })
    assert.deepEqual(aiSdk, ['message', 'message', 'message'])
    await agents.assertCharges(5)
  })

  test(`the Agents SDK: a loop of three turns, plain and streamed${over}`, async () => {
    const { asked, answer, streamedAnswer } = await runProgram('agents', model)
    assert.deepEqual(asked, [...ASKED, ...ASKED])
    assert.match(answer, REPORT)
    assert.equal(streamedAnswer, answer)
    await agents.assertCharges(6)
  })

  test(`LangChain: a streamed loop of tools in the Responses format${over}`, async () => {
    const { asked, answer } = await runProgram('langchain', model)
    assert.deepEqual(asked, ASKED)
    assert.match(answer, REPORT)
    await agents.assertCharges(3)
  })
}

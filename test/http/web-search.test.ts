// deep: every format of a client, generated use
/**
 * Searches of the web that a provider runs, billed by use: over real sockets, in the Responses and in the Messages
 * format, to the sandbox upstream and to one that keeps no limit.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { effort } from '../harness/effort.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { accumulateMessage } from '../harness/accumulate-message.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  configured,
  nanoBrl,
  perMillion,
  plus,
  rational,
  theOutcome,
  times,
} from '../harness/media-calls.ts'
import {
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { responseEvents } from '../responses/assert-response.ts'

const FORMATS = ['responses', 'messages'] as const
type Format = (typeof FORMATS)[number]
const CONTEXT_TOKENS = 32_000
const OUTPUT_TOKENS = 1_000
/** As the catalog has them. */
const SEARCHES_DEFAULT = 3
const SEARCHES_MAX = 5

let gateway: TestGateway
let sandbox: SandboxUpstream
let hostile: ScriptedUpstream

before(async () => {
  sandbox = await startSandboxUpstream()
  hostile = await startScriptedUpstream()
  // Its tokenizer is loaded by the first chat.
  await askChat(new URL(sandbox.baseUrl).origin, undefined, sound('sandbox-chat', {}))
  const upstreams = [
    { name: '', url: sandbox.baseUrl },
    { name: 'hostile-', url: hostile.baseUrl },
  ].flatMap(({ name, url }) => [
    {
      id: `${name}messages`,
      kind: 'anthropic',
      base_url: url,
      api_key_env: 'SEARCH_KEY',
      retries: 0,
    },
    {
      id: `${name}responses`,
      kind: 'openai-compatible',
      base_url: url,
      speaks_responses: true,
      retries: 0,
    },
  ])
  const models = upstreams.flatMap(({ id }) => [
    modelOf(id, id, { web_search: '0.01' }),
    modelOf(`${id}-unpriced`, id, {}),
  ])
  const config = { upstreams, models }
  gateway = await startGateway({ ...configured(config), SEARCH_KEY: 'a-key' })
})

const modelOf = (id: string, upstream: string, prices: object): object => ({
  id,
  category: 'llm',
  prices: { input: 1, output: 2, ...prices },
  markup_multiplier: '1.5',
  context_tokens: CONTEXT_TOKENS,
  max_output_tokens: OUTPUT_TOKENS,
  routes: [{ upstream, model: upstream.startsWith('hostile') ? id : 'sandbox-chat' }],
})

after(async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
  await gateway.stop()
  await sandbox.close()
  await hostile.close()
})

const linesOf = (count: number): string =>
  ['Responda.', ...Array.from({ length: count }, (_, index) => `pesquise assunto ${index}`)].join(
    '\n',
  )

function bodyOf(
  format: Format,
  model: string,
  asked: { text: string; limit?: number | undefined; isStream?: boolean; isListed?: boolean },
): Record<string, unknown> {
  const { text, limit, isStream = false, isListed = true } = asked
  const turns = [{ role: 'user', content: text }]
  if (format === 'messages') {
    const tool = { type: 'web_search_20260209', name: 'web_search', max_uses: limit }
    return {
      model,
      max_tokens: OUTPUT_TOKENS,
      messages: turns,
      stream: isStream,
      ...(isListed ? { tools: [tool] } : {}),
    }
  }
  return {
    model,
    max_output_tokens: OUTPUT_TOKENS,
    input: turns,
    stream: isStream,
    max_tool_calls: limit,
    ...(isListed ? { tools: [{ type: 'web_search' }] } : {}),
  }
}

function askIn(format: Format, body: unknown, secret = gateway.secret): Promise<Asked> {
  return ask(gateway.node.baseUrl, `/${format}`, {
    body,
    headers: { authorization: `Bearer ${secret}` },
  })
}

function wholeOf(format: Format, answer: Asked, isStream: boolean): any {
  if (!isStream) return answer.json
  if (format === 'messages') return accumulateMessage(answer.text).message
  return responseEvents(answer.text).at(-1)?.response
}

/** The searches that an answer shows, and the pages that it cites. */
function shownIn(format: Format, whole: any): { searches: number; cited: string[] } {
  const isOf =
    (name: string) =>
    ({ type }: { type: string }): boolean =>
      type === name
  if (format === 'messages') {
    const { content } = whole
    const results = content.filter(isOf('web_search_tool_result'))
    assert.equal(content.filter(isOf('server_tool_use')).length, results.length)
    for (const { content: found } of results) assert.match(found[0].encrypted_content, /^.{20}/)
    const cited = content
      .filter(isOf('text'))
      .flatMap(({ citations = [] }: any) => citations.map(({ url }: any) => url))
    return { searches: results.length, cited }
  }
  const { output } = whole
  const cited = output
    .filter(isOf('message'))
    .flatMap(({ content }: any) => content)
    .flatMap(({ annotations }: any) => annotations.map(({ url }: any) => url))
  return { searches: output.filter(isOf('web_search_call')).length, cited }
}

const costOf = (promptTokens: number, completionTokens: number, searches: number): bigint =>
  nanoBrl(
    plus(
      perMillion(promptTokens, '1'),
      perMillion(completionTokens, '2'),
      times(rational(String(searches)), rational('0.01')),
    ),
    '5.2',
    '1.5',
  )

test('each search within the limit is charged once, its results as the prompt, all within the hold', async () => {
  const cases = fc.record({
    format: fc.constantFrom(...FORMATS),
    isStream: fc.boolean(),
    planned: fc.nat({ max: 7 }),
    limit: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
  })
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(cases, async ({ format, isStream, planned, limit }) => {
      const before = { ...sandbox.counts }
      const asked = { text: linesOf(planned), limit, isStream }
      const answer = await askIn(format, bodyOf(format, format, asked))
      assert.equal(answer.status, 200, answer.text)
      const event = await theOutcome(gateway, answer.requestId)
      const uses = Math.min(planned, limit ?? SEARCHES_DEFAULT, SEARCHES_MAX)
      assert.equal(sandbox.counts.webSearches - before.webSearches, uses)
      assert.deepEqual([event.outcome, event.usage_kind], ['charged', 'exact'])
      assert.deepEqual(event.units, uses === 0 ? null : { web_searches: uses })
      assert.equal(event.prompt_tokens, sandbox.counts.promptTokens - before.promptTokens)
      const { prompt_tokens: prompt, completion_tokens: completion } = event
      assert.equal(event.cost_billed_nano_brl, costOf(prompt, completion, uses))
      assert.ok(event.cost_billed_nano_brl <= event.held_nano_brl)

      const whole = wholeOf(format, answer, isStream)
      const shown = shownIn(format, whole)
      assert.equal(shown.searches, uses)
      assert.equal(shown.cited.length, uses)
      if (format === 'messages')
        assert.equal(whole.usage.server_tool_use?.web_search_requests ?? 0, uses)
      assert.doesNotMatch(answer.text, /srvtoolu_|sandbox-/)
      seen.add(`${format} ${isStream}`)
    }),
    { numRuns: effort({ ordinary: 30, full: 400 }) },
  )
  assert.equal(seen.size, 4)
})

test('a balance for the tokens alone is answered without searches', async () => {
  for (const format of FORMATS) {
    const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0.5' })
    const before = { ...sandbox.counts }
    const answer = await askIn(format, bodyOf(format, format, { text: linesOf(2) }), secret)
    assert.equal(answer.status, 200, answer.text)
    const event = await theOutcome(gateway, answer.requestId)
    assert.equal(sandbox.counts.webSearches, before.webSearches)
    assert.equal(event.units, null)
    assert.ok(event.cost_billed_nano_brl <= event.held_nano_brl)
    assert.ok(event.held_nano_brl <= 500_000_000n)
  }
})

test('a call with its own cap is answered without searches where they are above it', async () => {
  for (const format of FORMATS) {
    const answer = await ask(gateway.node.baseUrl, `/${format}`, {
      body: bodyOf(format, format, { text: linesOf(2) }),
      headers: { authorization: `Bearer ${gateway.secret}`, 'x-svc-max-cost-brl': '0.5' },
    })
    assert.equal(answer.status, 200, answer.text)
    const event = await theOutcome(gateway, answer.requestId)
    assert.ok(event.held_nano_brl <= 500_000_000n)
    assert.equal(event.units, null)
  }
})

test('without a price, and where the choice of tools excludes it, the search is left out', async () => {
  for (const format of FORMATS) {
    const none = format === 'messages' ? { type: 'none' } : 'none'
    for (const [model, more] of [
      [`${format}-unpriced`, {}],
      [format, { tool_choice: none }],
    ] as const) {
      const before = sandbox.counts.webSearches
      const answer = await askIn(format, {
        ...bodyOf(format, model, { text: linesOf(2) }),
        ...more,
      })
      assert.equal(answer.status, 200, answer.text)
      const event = await theOutcome(gateway, answer.requestId)
      assert.equal(sandbox.counts.webSearches, before)
      assert.equal(event.units, null)
      // The hold is for the tokens of the request, not for rounds of the whole context.
      assert.ok(event.held_nano_brl < 500_000_000n, String(event.held_nano_brl))
    }
  }
})

test('a search that the choice of tools names is priced and done, or refused before a hold: never left out', async () => {
  const shielded = await createApiKey(gateway.database.db, {
    customerId: gateway.customerId,
    name: 'Com proteção',
    requestsPerMinute: 1_000,
    shield: { action: 'mask', uuids: 'always' },
  })
  assert.ok('secret' in shielded)
  const choices = {
    responses: [
      { tool_choice: 'required' },
      { tool_choice: { type: 'web_search' } },
      { tool_choice: { type: 'web_search_preview' } },
      {
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'web_search' }] },
      },
    ],
    messages: [
      { tool_choice: { type: 'any' } },
      { tool_choice: { type: 'tool', name: 'web_search' } },
    ],
  }
  for (const format of FORMATS)
    for (const choice of choices[format]) {
      const send = async (
        model: string,
        headers: Record<string, string> = {},
        secret = gateway.secret,
      ): Promise<void> => {
        const before = sandbox.counts.webSearches
        const answer = await ask(gateway.node.baseUrl, `/${format}`, {
          body: { ...bodyOf(format, model, { text: linesOf(1) }), ...choice },
          headers: { authorization: `Bearer ${secret}`, ...headers },
        })
        const what = `${JSON.stringify(choice)} ${model} ${answer.text}`
        const searches = sandbox.counts.webSearches - before
        if (answer.status === 200) assert.equal(searches, 1, what)
        else {
          assert.ok([400, 402].includes(answer.status), what)
          assert.equal(searches, 0, what)
        }
      }
      await send(format)
      await send(`${format}-unpriced`)
      await send(format, { 'x-svc-max-cost-brl': '0.5' })
      await send(format, {}, shielded.secret)
    }
  for (const choice of [
    { type: 'web_search' },
    { type: 'function', function: { name: 'web_search' } },
  ]) {
    const answer = await askChat(gateway.node.baseUrl, gateway.secret, {
      ...sound('responses', {}),
      tools: [{ type: 'web_search' }],
      tool_choice: choice,
    })
    assert.equal(answer.status, 400, answer.text)
  }
})

test('the searches of an earlier turn go back to the provider with the conversation', async () => {
  for (const format of FORMATS) {
    const body = bodyOf(format, format, { text: linesOf(1) })
    const first = (await askIn(format, body)).json
    const next = { role: 'user', content: 'E agora?' }
    const again =
      format === 'messages'
        ? {
            messages: [
              ...(body.messages as object[]),
              { role: 'assistant', content: first.content },
              next,
            ],
          }
        : { input: [...(body.input as object[]), ...first.output, next] }
    const answer = await askIn(format, { ...body, ...again })
    assert.equal(answer.status, 200, answer.text)
    assert.equal((await theOutcome(gateway, answer.requestId)).units, null)
  }
})

/** An answer with as many searches as it likes, and any usage. */
function answering(
  format: Format,
  { searches, prompt, output }: { searches: number; prompt: number; output: number },
): Behaviour {
  const call = { type: 'web_search_call', status: 'completed', action: { type: 'search' } }
  const body =
    format === 'messages'
      ? {
          content: [{ type: 'text', text: 'Pronto.' }],
          stop_reason: 'end_turn',
          usage: {
            input_tokens: prompt,
            output_tokens: output,
            server_tool_use: { web_search_requests: searches },
          },
        }
      : {
          status: 'completed',
          output: [
            ...Array.from({ length: searches }, () => call),
            { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Ok.' }] },
          ],
          usage: { input_tokens: prompt, output_tokens: output },
        }
  return (_seen, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id: 'x', ...body }))
}

test('a provider that runs more searches than allowed is charged as reported, with an alarm above the hold', async () => {
  for (const format of FORMATS) {
    const model = `hostile-${format}`
    // Everything that the hold covers, and more searches.
    const rounds = format === 'messages' ? 10 : SEARCHES_DEFAULT + 2
    const most = {
      prompt: CONTEXT_TOKENS * rounds,
      output: OUTPUT_TOKENS * (format === 'messages' ? 10 : 1),
    }
    hostile.play(model, answering(format, { ...most, searches: SEARCHES_DEFAULT }))
    const within = await askIn(format, bodyOf(format, model, { text: 'Oi' }))
    const held = await theOutcome(gateway, within.requestId)
    assert.equal(held.usage_kind, 'exact')
    assert.equal(held.cost_billed_nano_brl, held.held_nano_brl)
    assert.deepEqual(held.units, { web_searches: SEARCHES_DEFAULT })

    hostile.play(model, answering(format, { ...most, searches: SEARCHES_DEFAULT + 4 }))
    const above = await askIn(format, bodyOf(format, model, { text: 'Oi' }))
    const event = await theOutcome(gateway, above.requestId)
    assert.deepEqual(event.units, { web_searches: SEARCHES_DEFAULT + 4 })
    assert.equal(event.cost_billed_nano_brl, costOf(most.prompt, most.output, SEARCHES_DEFAULT + 4))
    assert.ok(event.cost_billed_nano_brl > event.held_nano_brl)
    assert.ok(gateway.node.log.some((line) => line.includes('charge_above_hold')))
  }
})

test('a report of searches that no call can have run is charged by an estimate, within the hold', async () => {
  for (const format of FORMATS) {
    const model = `hostile-${format}`
    hostile.play(model, answering(format, { prompt: 10, output: 5, searches: 2_000 }))
    const answer = await askIn(format, bodyOf(format, model, { text: 'Oi' }))
    const event = await theOutcome(gateway, answer.requestId)
    assert.deepEqual([event.usage_kind, event.reason], ['estimated', 'impossible_usage_reported'])
    assert.ok((event.units?.web_searches ?? 0) <= SEARCHES_DEFAULT)
    assert.ok(event.cost_billed_nano_brl <= event.held_nano_brl)
  }
})

test('searches that nobody asked for are not charged, whatever the provider reports', async () => {
  for (const format of FORMATS) {
    const model = `hostile-${format}`
    hostile.play(model, answering(format, { prompt: 10, output: 5, searches: 4 }))
    const answer = await askIn(format, bodyOf(format, model, { text: 'Oi', isListed: false }))
    const event = await theOutcome(gateway, answer.requestId)
    assert.deepEqual([event.usage_kind, event.units], ['exact', null])
    assert.equal(event.cost_billed_nano_brl, costOf(10, 5, 0))
  }
})

test('the provider gets the limit that the hold covers, and no other tool of its own', async () => {
  for (const format of FORMATS) {
    const model = `hostile-${format}`
    hostile.play(model, answering(format, { prompt: 10, output: 5, searches: 0 }))
    const body = bodyOf(format, model, { text: 'Oi', limit: 50 })
    const others =
      format === 'messages'
        ? [
            { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
            { type: 'web_search_20250305', name: 'web_search' },
          ]
        : [{ type: 'tool_search' }, { type: 'web_search_preview' }]
    const tools = [...(body.tools as object[]), ...others]
    await askIn(format, { ...body, tools })
    const { body: sent } = hostile.callsOf(model).at(-1) as { body: any }
    assert.deepEqual(
      sent.tools,
      format === 'messages'
        ? [{ type: 'web_search_20250305', name: 'web_search', max_uses: SEARCHES_MAX }]
        : [{ type: 'web_search' }],
    )
    if (format === 'responses') assert.equal(sent.max_tool_calls, SEARCHES_MAX)
  }
})

test('a stream that breaks off is charged the searches that it showed', async () => {
  const events: Record<Format, object[]> = {
    messages: [
      { type: 'message_start', message: { usage: { input_tokens: 10, output_tokens: 1 } } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'web_search_tool_result', tool_use_id: 'a', content: [] },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Achei' } },
    ],
    responses: [
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'web_search_call', status: 'completed', action: { type: 'search' } },
      },
      { type: 'response.output_text.delta', output_index: 1, content_index: 0, delta: 'Achei' },
    ],
  }
  for (const format of FORMATS) {
    const model = `hostile-${format}`
    hostile.play(model, (_call, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const text = events[format].map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
      response.write(text, () => response.destroy())
    })
    const answer = await askIn(format, bodyOf(format, model, { text: 'Oi', isStream: true }))
    const event = await theOutcome(gateway, answer.requestId)
    assert.deepEqual(
      [event.outcome, event.usage_kind, event.units],
      ['charged', 'estimated', { web_searches: 1 }],
    )
    assert.ok(event.cost_billed_nano_brl <= event.held_nano_brl)
  }
})

test('the price of a search is public, in every list of prices', async () => {
  const prices = await ask(gateway.node.baseUrl, '/model-prices', {})
  const price = prices.json.prices.find(({ model_id: id }: any) => id === 'messages')
  // USD 0.01 x 5.2 x 1.5
  assert.equal(price.units.web_searches, 0.078)
  assert.equal(
    prices.json.prices.find(({ model_id: id }: any) => id === 'messages-unpriced').units
      .web_searches,
    undefined,
  )
})

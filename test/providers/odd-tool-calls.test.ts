// deep: generated answers
/**
 * Upstreams number tool calls badly: all of them 0, none, without ids, or with another id in each delta. Clients of each
 * format get each call with an id of its own and its own arguments.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject, Provider } from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { openChatFormats } from './chat-formats.ts'
import { assemble, CLIENTS, type Client } from './conversation-formats.ts'
import { keptOf } from './conversation-losses.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'

/** What an upstream sends of its calls. */
interface Manner {
  readonly ids: 'all' | 'none' | 'empty' | 'new in each delta'
  readonly numbers: 'all' | 'zeros' | 'none'
  readonly type: boolean
  /** Ids are in each delta of their call. */
  readonly repeats: boolean
}

const manner: fc.Arbitrary<Manner> = fc
  .record({
    ids: fc.constantFrom('all', 'none', 'empty', 'new in each delta'),
    numbers: fc.constantFrom('all', 'zeros', 'none'),
    type: fc.boolean(),
    repeats: fc.boolean(),
  })
  // Zeros without ids say nothing of where a call ends.
  .filter(({ ids, numbers }) => numbers !== 'zeros' || ids === 'all')

const call = fc.record({
  name: fc.stringMatching(/^[a-z]{1,8}$/),
  pieces: fc
    .dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.integer(), { minKeys: 1, maxKeys: 4 })
    .chain((input) => {
      const text = JSON.stringify(input)
      return fc
        .array(fc.nat({ max: text.length }), { maxLength: 4 })
        .map((cuts) => [0, ...cuts.toSorted((one, other) => one - other), text.length])
        .map((cuts) => cuts.slice(1).map((cut, at) => text.slice(cuts[at], cut)))
    }),
})
const calls = fc.array(call, { minLength: 1, maxLength: 4 })
type Call = typeof calls extends fc.Arbitrary<(infer One)[]> ? One : never

/** The calls of a delta, one after another; each piece of arguments is one. */
function deltasOf(made: readonly Call[], { ids, numbers, type, repeats }: Manner): JsonObject[] {
  return made.flatMap(({ name, pieces }, number) =>
    ['', ...pieces].map((args, piece): JsonObject => {
      const isFirst = piece === 0
      const own = `call_${number}`
      const id = {
        all: isFirst || repeats ? { id: own } : {},
        none: {},
        empty: { id: isFirst ? '' : null },
        'new in each delta': { id: `${own}_${piece}` },
      }[ids]
      return {
        ...id,
        ...(numbers === 'none' ? {} : { index: numbers === 'all' ? number : 0 }),
        ...(type && isFirst ? { type: 'function' } : {}),
        function: { ...(isFirst ? { name } : {}), arguments: args },
      }
    }),
  )
}

function wholeCallsOf(made: readonly Call[], { ids, numbers, type }: Manner): JsonObject[] {
  return made.map(({ name, pieces }, number) => ({
    ...(ids === 'all' || ids === 'new in each delta' ? { id: `call_${number}` } : {}),
    ...(ids === 'empty' ? { id: '' } : {}),
    ...(numbers === 'none' ? {} : { index: numbers === 'all' ? number : 0 }),
    ...(type ? { type: 'function' } : {}),
    function: { name, arguments: pieces.join('') },
  }))
}

let played: { readonly made: readonly Call[]; readonly manner: Manner }
let server: ScriptedServer
let provider: Provider
const formats = openChatFormats()

before(async () => {
  server = await startScriptedServer(({ text }, response) => {
    const { made, manner } = played
    const usage = { prompt_tokens: 5, completion_tokens: 5 }
    if (!text.includes('"stream":true')) {
      const message = { role: 'assistant', content: null, tool_calls: wholeCallsOf(made, manner) }
      const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
      return answerJson(response, 200, { choices, usage })
    }
    const event = (delta: JsonObject, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ choices: [{ index: null, delta, finish_reason }] })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event({ role: 'assistant', content: null }))
    for (const one of deltasOf(made, manner)) response.write(event({ tool_calls: [one] }))
    response.write(event({}, 'tool_calls'))
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`)
  })
  provider = createOpenAiCompatible({
    apiKey: 'a-key',
    cancelStopsBilling: true,
    connectTimeoutMs: 2_000,
    firstByteTimeoutMs: 2_000,
    idleTimeoutMs: 2_000,
    connectionsMax: 4,
    baseUrl: `${server.url}/v1`,
    maxTokensField: 'max_tokens',
    speaksResponses: false,
  })
})

after(async () => {
  await provider.close()
  await server.close()
})

interface Shown {
  readonly id: unknown
  readonly name: unknown
  readonly input: unknown
}

function callsIn(client: Client, kept: readonly any[]): Shown[] {
  switch (client) {
    case 'chat':
      return (kept[0].tool_calls as any[]).map(
        ({ id, type, function: { name, arguments: text } }) => {
          assert.equal(type, 'function')
          return { id, name, input: JSON.parse(text) }
        },
      )
    case 'messages':
      return kept.map(({ id, name, input }) => ({ id, name, input }))
    case 'responses':
      return kept.map((item) => ({
        id: item.call_id,
        name: item.name,
        input: JSON.parse(item.arguments),
      }))
    case 'gemini':
      return kept
        .filter(({ functionCall }) => functionCall !== undefined)
        .map(({ functionCall: { id, name, args } }) => ({ id, name, input: args }))
  }
}

for (const client of CLIENTS)
  test(`${client}: each call has an id and its own arguments, however its upstream numbers it`, async () => {
    await fc.assert(
      fc.asyncProperty(calls, manner, fc.boolean(), async (made, manner, isStream) => {
        played = { made, manner }
        const question = assemble(client, [], [], 'Olá', formats.marks)
        const request = formats.read(client, { ...question, stream: isStream })
        const written = await formats.deliver(client, provider, request)
        const shown = callsIn(client, keptOf(client, written, isStream))
        assert.deepEqual(
          shown.map(({ name, input }) => ({ name, input })),
          made.map(({ name, pieces }) => ({ name, input: JSON.parse(pieces.join('')) })),
        )
        const ids = shown.map(({ id }) => id)
        for (const id of ids) assert.match(id as string, /^.+$/)
        assert.equal(new Set(ids).size, ids.length)
      }),
      { numRuns: effort({ ordinary: 60, full: 1_000 }) },
    )
  })

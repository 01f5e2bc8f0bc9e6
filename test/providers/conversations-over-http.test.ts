// deep: every format of a client over every format of an upstream
/**
 * Conversations of several turns over real sockets, in each format of clients over an upstream of each format. The
 * client sends back what it was answered, under the ids and seals of the gateway; the upstream reads all of it as it was
 * said. The losses are those of `conversation-losses.ts`.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { effort } from '../harness/effort.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured } from '../harness/media-calls.ts'
import {
  assemble,
  CLIENTS,
  conversation,
  entriesOf,
  opaque,
  readEntries,
  type Answer,
  type Client,
  type Conversation,
  type Entry,
  type Kept,
} from './conversation-formats.ts'
import {
  goesBack,
  keptOf,
  playable,
  UPSTREAMS,
  withJoinedTexts,
  withLosses,
  type Upstream,
} from './conversation-losses.ts'
import { answerJson, startScriptedServer, type ScriptedServer } from './scripted-server.ts'
import { plainAnswer, streamedAnswer } from './write-upstream-answer.ts'

/** What the upstreams answer next. */
let played: Answer
let server: ScriptedServer
let gateway: TestGateway

before(async () => {
  server = await startScriptedServer(({ path, text }, response) => {
    if (!text.includes('"stream":true')) return answerJson(response, 200, plainAnswer(path, played))
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(streamedAnswer(path, played, (whole) => (whole === '' ? [] : [whole])))
  })
  const upstream = (id: Upstream, kind: string, more: object = {}): object => ({
    id,
    kind,
    base_url: `${server.url}/v1`,
    retries: 0,
    breaker: { failures: 0 },
    ...more,
  })
  const config = {
    upstreams: [
      upstream('chat', 'openai-compatible'),
      upstream('messages', 'anthropic', { api_key_env: 'CONVERSATIONS_KEY' }),
      upstream('responses', 'openai-compatible', { speaks_responses: true }),
    ],
    models: UPSTREAMS.map((id) => ({
      id: `over-${id}`,
      category: 'llm',
      prices: { input: 1, output: 2 },
      markup_multiplier: '1.5',
      context_tokens: 128_000,
      max_output_tokens: 4_096,
      supports_tools: true,
      image_tokens_max: 2_000,
      routes: [{ upstream: id, model: 'claude-sonnet-4-5' }],
    })),
  }
  gateway = await startGateway({ ...configured(config), CONVERSATIONS_KEY: 'a-key' })
})

after(async () => {
  await gateway.stop()
  await server.close()
})

const PATHS: Readonly<Record<Client, string>> = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
  gemini: 'beta/models/',
}

/** The ids under which a client knows the calls of an answer, in their order. */
function shownIdsOf(client: Client, kept: Kept): string[] {
  if (client === 'chat') return (kept as any)[0].tool_calls?.map(({ id }: any) => id) ?? []
  if (client === 'gemini')
    return kept.flatMap((one: any) => (one.functionCall ? [one.functionCall.id] : []))
  const [type, field] =
    client === 'messages' ? (['tool_use', 'id'] as const) : (['function_call', 'call_id'] as const)
  return kept.filter((one) => one.type === type).map((one) => one[field] as string)
}

type Asked = Conversation['turns'][number]['asked']

/** The client asks turn by turn and keeps the answers. Returns what the upstream read at last. */
async function talk(
  client: Client,
  upstream: Upstream,
  { instructions, turns, last }: Conversation,
  isStream: boolean,
): Promise<Entry[]> {
  const turnsSoFar: { asked: Asked; said: Kept; calls: Answer['calls'] }[] = []
  const shownIds = new Map<string, string>()
  for (const { asked, answer } of turns) {
    played = answer
    const said = keptOf(client, await askNext(), isStream)
    const ids = shownIdsOf(client, said)
    for (const [place, { id }] of answer.calls.entries()) shownIds.set(id, ids[place] as string)
    turnsSoFar.push({ asked, said, calls: answer.calls })
  }
  played = { thinking: [], said: ['Fim.'], calls: [] }
  server.received.length = 0
  await askNext()
  const [read, ...more] = server.received
  assert.ok(read)
  assert.equal(more.length, 0)
  return readEntries(read.path, JSON.parse(read.text))

  async function askNext(): Promise<string> {
    const hidden = (id: string): string => shownIds.get(id) as string
    const fields = assemble(client, instructions, turnsSoFar, last, { hidden })
    const limit = client === 'messages' ? { max_tokens: 4_000 } : {}
    const body = { model: `over-${upstream}`, ...fields, ...limit, stream: isStream }
    const method = isStream ? ':streamGenerateContent?alt=sse' : ':generateContent'
    const path = client === 'gemini' ? `${PATHS.gemini}${body.model}${method}` : PATHS[client]
    const answer = await ask(gateway.node.baseUrl, path, { secret: gateway.secret, body })
    assert.equal(answer.status, 200, answer.text)
    return answer.text
  }
}

function expected(client: Client, upstream: Upstream, one: Conversation): Entry[] {
  return withLosses(client, upstream, goesBack(entriesOf(one), client, upstream))
}

for (const client of CLIENTS)
  for (const upstream of UPSTREAMS)
    test(`${client} over ${upstream}: what was said and answered is read as it was, turn after turn`, async () => {
      await fc.assert(
        fc.asyncProperty(conversation, opaque, fc.boolean(), async (made, signature, isStream) => {
          const turns = made.turns.map(({ asked, answer }) => ({
            asked,
            answer: playable(client, upstream, answer, signature),
          }))
          const one = { ...made, turns }
          assert.deepEqual(
            withJoinedTexts(await talk(client, upstream, one, isStream)),
            withJoinedTexts(expected(client, upstream, one)),
          )
        }),
        { numRuns: effort({ ordinary: 6, full: 100 }) },
      )
    })

test('after these conversations the audit is clean', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})

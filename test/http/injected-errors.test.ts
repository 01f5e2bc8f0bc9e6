// deep: an error in every statement
/**
 * Thousands of upstream errors, as they occur in production and worse: nothing of them reaches a
 * customer, and each call ends once.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import type { CatalogConfig } from '../../src/money/catalog/catalog-config-schema.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { ask, eventsOf, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  createInjectedError,
  createRandom,
  PROVIDER_NAMES,
  type InjectedError,
  type Place,
} from './injected-error.ts'

const ERRORS = effort({ ordinary: 800, full: 10_000 })
const SEED = seedOr(20_260_315)
const AT_ONCE = 32

/** A way to ask, and where an error can be in what comes back. */
interface Target {
  readonly name: string
  readonly path: string
  readonly places: readonly Place[]
  /** The request; `text` says which error is wanted. */
  readonly body: (text: string) => unknown
}

const PLAIN: readonly Place[] = ['answer', 'answer', 'ok_body']
const STREAMED: readonly Place[] = [
  'answer',
  'ok_body',
  'first_event',
  'middle_event',
  'middle_event',
]
const UPSTREAM_IDS = ['um', 'dois', 'tres'] as const
type UpstreamId = (typeof UPSTREAM_IDS)[number]

function chatOver(upstreamId: UpstreamId, isStream: boolean): Target {
  return {
    name: `chat over ${upstreamId}, ${isStream ? 'streamed' : 'plain'}`,
    path: '/chat/completions',
    places: isStream ? STREAMED : PLAIN,
    body: (content) => ({
      model: `conversa-${upstreamId}`,
      messages: [{ role: 'user', content }],
      ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
    }),
  }
}

const TARGETS: readonly Target[] = [
  ...UPSTREAM_IDS.flatMap((id) => [chatOver(id, false), chatOver(id, true)]),
  {
    name: 'embeddings',
    path: '/embeddings',
    places: PLAIN,
    body: (input) => ({ model: 'vetores', input }),
  },
  {
    name: 'images',
    path: '/images/generations',
    places: PLAIN,
    body: (prompt) => ({ model: 'imagens', prompt }),
  },
  { name: 'transcriptions', path: '/audio/transcriptions', places: PLAIN, body: transcriptionForm },
]

function transcriptionForm(prompt: string): FormData {
  const form = new FormData()
  form.append('model', 'escuta')
  form.append('prompt', prompt)
  form.append('file', new Blob([Buffer.alloc(2_000, 'som')]), 'fala.mp3')
  return form
}

const targetOf = (index: number): Target => TARGETS[index % TARGETS.length] as Target

const random = createRandom(SEED)
const errors: readonly InjectedError[] = Array.from({ length: ERRORS }, (_, index) =>
  createInjectedError(random, index, targetOf(index).places),
)

interface FailingUpstream {
  readonly origin: string
  /** How often each error was asked for. */
  readonly counts: readonly number[]
  close(): Promise<void>
}

async function startFailingUpstream(): Promise<FailingUpstream> {
  const counts = errors.map(() => 0)
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const index = Number(/caso-(\d+)-/.exec(Buffer.concat(chunks).toString('latin1'))?.[1])
      counts[index] = (counts[index] ?? 0) + 1
      deliver(errors[index] as InjectedError, request, response)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function deliver(error: InjectedError, { url = '' }: IncomingMessage, to: ServerResponse): void {
  const { place, status, headers, body } = error
  if (place === 'answer') return void to.writeHead(status, headers).end(body)
  if (place === 'ok_body') {
    return void to.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(body)
  }
  to.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
  const event = `${body
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`
  // Words and error leave apart, so that they also arrive apart.
  if (place === 'first_event') return void to.end(event)
  to.write(firstWords(url), () => setImmediate(() => to.end(event)))
}

/** The beginning of an answer in the provider's own format. */
function firstWords(url: string): string {
  const text = 'Era uma vez'
  const named = (event: { type: string }): string =>
    `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  if (url.includes('/messages')) {
    const usage = { input_tokens: 9, output_tokens: 1 }
    const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage }
    return [
      { type: 'message_start', message: { ...message, model: 'claude' } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    ]
      .map(named)
      .join('')
  }
  const body = url.includes(':streamGenerateContent')
    ? { candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }] }
    : { choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }] }
  return `data: ${JSON.stringify(body)}\n\n`
}

function catalogConfig(origin: string): CatalogConfig {
  const common = { retries: 0, breaker: { failures: 0 }, cancel_stops_billing: true }
  const address = { api_key_env: 'TEST_UPSTREAM_KEY', ...common }
  const prices = { input: '1.1', output: '2.3' }
  const chat = (
    upstreamId: UpstreamId,
    model: string,
  ): NonNullable<CatalogConfig['models']>[number] => ({
    id: `conversa-${upstreamId}`,
    category: 'llm',
    vendor: 'casa',
    prices,
    routes: [{ upstream: upstreamId, model }],
    context_tokens: 8_192,
    max_output_tokens: 64,
  })
  const other = { vendor: 'casa', routes: [{ upstream: 'um', model: 'outro' }] }
  return {
    upstreams: [
      { id: 'um', kind: 'openai-compatible', base_url: `${origin}/v1`, ...address },
      { id: 'dois', kind: 'anthropic', base_url: `${origin}/v1`, ...address },
      { id: 'tres', kind: 'google', base_url: `${origin}/v1beta`, ...address },
    ],
    models: [
      chat('um', 'gpt-5-mini'),
      chat('dois', 'claude-sonnet-4-5'),
      chat('tres', 'gemini-3-pro-preview'),
      { id: 'vetores', category: 'embedding', prices: { input: '0.1' }, ...other },
      { id: 'imagens', category: 'image', prices: { images: { default: '0.04' } }, ...other },
      { id: 'escuta', category: 'audio', prices: { audio_hour: '0.36' }, ...other },
    ],
  }
}

let upstream: FailingUpstream
let file: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startFailingUpstream()
  file = await writeConfigFile(catalogConfig(upstream.origin))
  gateway = await startGateway({
    CATRACA_CONFIG: file.path,
    TEST_UPSTREAM_KEY: 'key-of-upstream',
    LOG_LEVEL: 'error',
  })
})

after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

async function askFor(index: number): Promise<Asked> {
  const { path, body } = targetOf(index)
  const wanted = body(`caso-${index}-`)
  const { baseUrl } = gateway.node
  const { secret } = gateway
  if (!(wanted instanceof FormData)) return ask(baseUrl, path, { secret, body: wanted })
  // The bytes of the form, with the type that names its boundary.
  const form = new Response(wanted)
  const headers = { 'content-type': form.headers.get('content-type') ?? '' }
  return ask(baseUrl, path, { secret, headers, body: await form.bytes() })
}

type StatusAndCode = readonly [status: number, code: string]

const REQUEST: StatusAndCode = [400, 'invalid_request']
const CONTEXT: StatusAndCode = [400, 'context_length_exceeded']
const LIMIT: StatusAndCode = [429, 'rate_limit_exceeded']
const FAULT: StatusAndCode = [502, 'upstream_error']
const MAINTENANCE: StatusAndCode = [503, 'service_unavailable']

/** What the specification has for an upstream's error. */
function expectedRefusals({ place, status, body }: InjectedError): readonly StatusAndCode[] {
  const request = body.includes('maximum context length') ? CONTEXT : REQUEST
  // Some formats state the status in the event; then it counts like an HTTP status.
  if (place === 'first_event') return [FAULT, request, LIMIT, MAINTENANCE]
  if (place === 'ok_body') return [FAULT]
  if ([400, 413, 415, 422].includes(status)) return [request]
  if (status === 429) return [LIMIT]
  return [status === 503 ? MAINTENANCE : FAULT]
}

function assertNothingOf(error: InjectedError, { text, headers }: Asked): void {
  const head = [...headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  for (const shown of [text, head]) {
    assert.ok(!shown.toLowerCase().includes(error.marker), `the marker is in ${shown}`)
    assert.doesNotMatch(shown, PROVIDER_NAMES)
  }
}

/** The answer to one error; returns whether something of value came before it. */
function assertAnswer(error: InjectedError, answer: Asked): boolean {
  assertNothingOf(error, answer)
  if (error.place === 'answer' || error.place === 'ok_body' || answer.status !== 200) {
    const expected = expectedRefusals(error)
    const [status, code] = expected.find((each) => each[0] === answer.status) ?? FAULT
    assertRefusal(answer, status, code)
    if (status === 429) {
      const seconds = Number(answer.headers.get('retry-after'))
      assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 60, 'seconds to wait')
    }
    return false
  }
  assert.match(answer.headers.get('content-type') ?? '', /^text\/event-stream/)
  assertHeaders(answer, answer.requestId)
  const events = eventsOf(answer.text).map((event) => JSON.parse(event))
  const { error: shown, ...rest } = events.at(-1)
  assert.deepEqual(rest, {})
  assert.deepEqual(Object.keys(shown).sort(), ['code', 'message', 'param', 'type'])
  assert.deepEqual([shown.code, shown.type], ['upstream_error', 'upstream_error'])
  assert.match(shown.message, /^A resposta foi interrompida antes do fim\./)
  const words = events
    .slice(0, -1)
    .map((chunk) => chunk.choices[0].delta.content ?? '')
    .join('')
  assert.equal(words, error.place === 'middle_event' ? 'Era uma vez' : '')
  return words !== ''
}

test(`${ERRORS} upstream errors by seed ${SEED}: each answer has its own status and Portuguese text, and no word of the error`, async () => {
  const faults: string[] = []
  const charged = new Set<string>()
  const asked = new Set<string>()
  let next = 0
  async function askOneByOne(): Promise<void> {
    for (let index = next++; index < ERRORS && faults.length < 10; index = next++) {
      const error = errors[index] as InjectedError
      const answer = await askFor(index)
      asked.add(answer.requestId)
      try {
        if (assertAnswer(error, answer)) charged.add(answer.requestId)
      } catch (fault) {
        const { place, status, body } = error
        faults.push(
          `${index}, ${targetOf(index).name}, ${place} ${status} ${body}: ${(fault as Error).message}; answered ${answer.status} ${answer.text}`,
        )
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, askOneByOne))
  assert.deepEqual(faults, [])
  assert.equal(asked.size, ERRORS)

  await untilNoHoldIsOpen(gateway.database)
  const events = await gateway.database.db
    .selectFrom('usage_events')
    .select(['request_id', 'outcome', 'cost_billed_nano_brl'])
    .execute()
  assert.equal(events.length, ERRORS, 'each call is resolved once')
  assert.deepEqual(new Set(events.map((event) => event.request_id)), asked)
  for (const { request_id: id, outcome, cost_billed_nano_brl: billed } of events) {
    assert.equal(outcome, charged.has(id) ? 'charged' : 'released')
    assert.equal(billed > 0n, charged.has(id), 'what came is charged, and nothing else')
  }
  assert.ok(charged.size > ERRORS / 10, 'many of the streams broke in the middle')
  // What was misdirected was not looked at: by its standard, `fetch` asks again over another connection.
  const often = errors.filter(
    ({ place, status }, index) =>
      upstream.counts[index] !== 1 && !(place === 'answer' && status === 421),
  )
  assert.deepEqual(often, [], 'each call went to the upstream once')
})

test('after these tests the audit passes', async () => {
  await assertAudit(gateway.database)
})

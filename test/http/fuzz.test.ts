// deep: thousands of generated requests
/**
 * Thousands of requests that no sound client sends, over real sockets, to one gateway. What they are
 * follows from a seed: `TEST_SEED` gives another one, and a failure tells the seed and the number of the
 * request.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { askChat, eventsOf, sound } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'

const SEED = seedOr(20_261_007)
const REQUESTS_MIN = effort({ ordinary: 1_500, full: 20_000 })
/** Some are of several requests. */
const CASES = effort({ ordinary: 1_455, full: 19_200 })
const PARALLEL = 32
const BODY_BYTES_MAX = 256 * 1024
const NEST_DEPTH = 10_000
/** No answer in this time is a failure: the request hangs. */
const PATIENCE_MS = 30_000
const FAILURES_SHOWN = 40

let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess({ BODY_BYTES_MAX: String(BODY_BYTES_MAX) })
})

after(() => gateway.stop())

// ── chance ──────────────────────────────────────────────────────────────────────────────────────

interface Chance {
  /** 0 and more, below `end`. */
  below(end: number): number
  one<Item>(items: readonly Item[]): Item
  happens(probability: number): boolean
  uuid(): string
}

/** Mulberry32: the same numbers for the same seed on every machine. */
function createChance(seed: number): Chance {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => below(16).toString(16)).join('')
  return {
    below,
    one: (items) => items[below(items.length)] as (typeof items)[number],
    happens: (probability) => next() < probability,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  }
}

// ── what is sent ────────────────────────────────────────────────────────────────────────────────

/** A request of sound HTTP, that the server has to answer. */
interface Sent {
  readonly method: string
  readonly path: string
  /** Comes back in the answer. */
  readonly requestId?: string
  readonly status?: number
}

type Case =
  /** Sound HTTP: each request gets its answer, in order. */
  | {
      readonly kind: string
      readonly send: Buffer
      readonly sent: readonly Sent[]
      /** Not on a connection that others use. */
      readonly isAlone?: boolean
      /** The server may hang up before it has read all. */
      readonly mayBeCut?: boolean
    }
  /** No sound HTTP: the server may answer or hang up. */
  | { readonly kind: string; readonly broken: Buffer }
  /** The client hangs up: after these bytes and this time, or after the first bytes of the answer. */
  | { readonly kind: string; readonly left: Buffer; readonly leaves: number | 'in_answer' }

type HeaderLines = readonly (readonly [name: string, value: string])[]

interface RequestParts {
  readonly method?: string
  readonly path?: string
  readonly version?: string
  readonly headers?: HeaderLines
  readonly body?: Buffer | string | undefined
  /** Instead of `content-length`. */
  readonly framing?: HeaderLines
}

const CHAT = '/v1/chat/completions'

/** The bytes of a request; without `authorization` in its headers it has a sound key. */
function rawRequest(parts: RequestParts): Buffer {
  const { method = 'POST', path = CHAT, version = '1.1', headers = [], framing } = parts
  const body = Buffer.from(parts.body ?? '')
  const has = (name: string): boolean => headers.some(([one]) => one.toLowerCase() === name)
  const lines: HeaderLines = [
    ...(has('host') ? [] : [['host', 'gateway.test'] as const]),
    ...(has('authorization') ? [] : [['authorization', `Bearer ${gateway.secret}`] as const]),
    ...(has('content-type') ? [] : [['content-type', 'application/json'] as const]),
    ...headers,
    ...(framing ?? (parts.body === undefined ? [] : [['content-length', `${body.length}`]])),
  ] as HeaderLines
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/${version}\r\n${head}\r\n`, 'latin1'),
    body,
  ])
}

/** One valid request with a fresh id, unless it has one. */
function soundHttp(
  chance: Chance,
  kind: string,
  parts: RequestParts,
  more: { status?: number; isAlone?: boolean; mayBeCut?: boolean } = {},
): Case {
  const { method = 'POST', path = CHAT, headers = [] } = parts
  const { status, ...rest } = more
  const bringsId = headers.some(([name]) => name === 'x-svc-request-id')
  const requestId = chance.uuid()
  return {
    kind,
    send: rawRequest({
      ...parts,
      headers: bringsId ? headers : [['x-svc-request-id', requestId], ...headers],
    }),
    sent: [
      {
        method,
        path,
        ...(bringsId ? {} : { requestId }),
        ...(status === undefined ? {} : { status }),
      },
    ],
    ...rest,
  }
}

// ── bodies ──────────────────────────────────────────────────────────────────────────────────────

const FAST_MODELS = ['sandbox-chat', 'sandbox-chat', 'sandbox-reasoning', 'sandbox-cached']

/** Sound, and with every field that the format has. */
function fullRequest(chance: Chance): Record<string, unknown> {
  const weather = {
    type: 'object',
    properties: { cidade: { type: 'string' }, dias: { type: 'integer' } },
    required: ['cidade'],
    additionalProperties: false,
  }
  const pixel = 'data:image/png;base64,iVBORw0KGgo='
  const all: Record<string, unknown> = {
    temperature: 1,
    top_p: 0.5,
    n: 1,
    max_tokens: 50,
    max_completion_tokens: 60,
    stop: ['fim'],
    presence_penalty: 0,
    frequency_penalty: 0,
    logit_bias: { '50256': -1 },
    logprobs: false,
    top_logprobs: null,
    user: 'pessoa',
    seed: 7,
    metadata: { pedido: 'um' },
    reasoning_effort: 'low',
    service_tier: 'auto',
    store: false,
    modalities: ['text'],
    parallel_tool_calls: true,
    tools: [{ type: 'function', function: { name: 'clima', parameters: weather } }],
    tool_choice: { type: 'function', function: { name: 'clima' } },
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'clima', strict: true, schema: weather },
    },
    prediction: { type: 'content', content: 'x' },
    functions: [{ name: 'clima', parameters: weather }],
  }
  const kept = Object.entries(all).filter(() => chance.happens(0.3))
  const stream = chance.happens(0.3)
  const call = { id: 'call_1', type: 'function', function: { name: 'clima', arguments: '{}' } }
  return {
    model: chance.one(FAST_MODELS),
    messages: [
      { role: 'system', content: 'Seja breve.' },
      {
        role: 'user',
        content: chance.happens(0.5)
          ? 'Olá!'
          : [
              { type: 'text', text: 'Veja' },
              { type: 'image_url', image_url: { url: pixel, detail: 'low' } },
            ],
      },
      ...(chance.happens(0.3)
        ? [
            { role: 'assistant', content: null, tool_calls: [call] },
            { role: 'tool', tool_call_id: 'call_1', content: 'sol' },
          ]
        : []),
    ],
    ...Object.fromEntries(kept),
    ...(stream ? { stream, stream_options: { include_usage: chance.happens(0.5) } } : {}),
  }
}

const nested = (open: string, close: string, inner = ''): string =>
  open.repeat(NEST_DEPTH) + inner + close.repeat(NEST_DEPTH)

/** JSON that `JSON.stringify` does not write. */
const RAW_VALUES = [
  '1e999',
  '-1e999',
  '1e-999',
  '-0',
  '123456789012345678901234567890',
  `0.${'3'.repeat(500)}`,
  '9'.repeat(5_000),
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '"\\ufeff"',
  '{"__proto__":{"isPolluted":true}}',
  '{"constructor":{"prototype":{"isPolluted":true}}}',
  '{"toString":null,"valueOf":1,"hasOwnProperty":0}',
  '{"toJSON":"x"}',
  '{"length":3}',
  '{"a":1,"a":2}',
  '{"type":"object","properties":{"__proto__":{"type":"string"}}}',
  '{"$ref":"#"}',
  '{"type":"array","minItems":1e9,"items":{"type":"string"}}',
  '{"type":"string","minLength":1e12}',
  '{"anyOf":[]}',
  '{"enum":[]}',
  '{"type":"string","pattern":"(a+)+$"}',
]
const DEEP_VALUES = [nested('[', ']'), nested('{"a":', '}', '1'), nested('{"items":', '}', '{}')]
const TEXTS = [
  '',
  ' ',
  'x',
  'user',
  'assistant',
  'tool',
  'function',
  'sandbox-chat',
  '__proto__',
  'constructor',
  '\u0000',
  '\u0001\u001f\u007f',
  '\u202e\ufeff\u200d',
  '👩‍👩‍👧'.repeat(20),
  '日本語',
  'á'.repeat(3_000),
  'a'.repeat(5_000),
  '<|endoftext|>',
  '%s%n{{x}}${x}',
  '\r\ndata: {"x":1}\r\n\r\n',
  'data: [DONE]\n\n',
  "'; drop table holds; --",
  'data:image/png;base64,@@@',
  '1',
  'true',
  'null',
]
const NUMBERS = [0, 1, -1, 2, 1.5, 3, 128, 129, 255, 2 ** 31, 2 ** 53, 1e21, 1e308, -1e308, 5e-324]

function anyValue(chance: Chance, depth = 0): unknown {
  const kinds = depth < 4 ? 7 : 4
  switch (chance.below(kinds)) {
    case 0:
      return chance.one([null, true, false])
    case 1:
      return chance.one(NUMBERS)
    case 2:
      return chance.one(TEXTS)
    case 3:
      return raw(chance.happens(0.03) ? chance.one(DEEP_VALUES) : chance.one(RAW_VALUES))
    case 4:
      return Array.from({ length: chance.below(4) }, () => anyValue(chance, depth + 1))
    case 5:
      return Object.fromEntries(
        Array.from({ length: chance.below(4) }, () => [
          chance.one([...TEXTS, 'type', 'text', 'content', 'url', 'name']),
          anyValue(chance, depth + 1),
        ]),
      )
    default:
      return { type: chance.one(TEXTS), function: anyValue(chance, depth + 1) }
  }
}

const RAW_MARK = '@raw:'

/** Stands for JSON text in a value; `write` puts it in. */
const raw = (json: string): string => RAW_MARK + json

function write(value: unknown): string {
  return JSON.stringify(value, (_key, item) => item).replaceAll(
    /"@raw:((?:[^"\\]|\\.)*)"/g,
    (quoted) => (JSON.parse(quoted) as string).slice(RAW_MARK.length),
  )
}

type Holder = Record<string, unknown>

/** Every place of the value, as the object or list that holds it and the name there. */
function placesOf(value: unknown): [holder: Holder, name: string][] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Holder
  return Object.keys(holder).flatMap((name) => [
    [holder, name] as [Holder, string],
    ...placesOf(holder[name]),
  ])
}

/** One to three places of a sound request, at any depth, are not what they should be. */
function mutatedBody(chance: Chance): string {
  const request = structuredClone(fullRequest(chance))
  for (let left = 1 + chance.below(3); left > 0; left--) {
    const [holder, name] = chance.one(placesOf(request))
    switch (chance.below(5)) {
      case 0:
        delete holder[name]
        break
      case 1:
        holder[name] = [holder[name], holder[name]]
        break
      case 2:
        holder[chance.one([...TEXTS, 'functions', 'audio', 'web_search_options', 'stop'])] =
          anyValue(chance)
        break
      default:
        holder[name] = anyValue(chance)
    }
    if (Object.keys(request).length === 0) break
  }
  return write(request)
}

const FAULTS_OF_JSON: Record<string, (text: string, chance: Chance) => string | Buffer> = {
  truncated: (text, chance) => text.slice(0, chance.below(text.length)),
  'trailing garbage': (text, chance) =>
    text + chance.one(['}', ']', ',', 'x', '{}', '\u0000', ' null', '//', '\ud83d']),
  'leading garbage': (text, chance) => chance.one(['}', ',', '\u0000', 'x', '[', '\v']) + text,
  'single quotes': (text) => text.replaceAll('"', "'"),
  'a NUL byte': (text, chance) => insert(text, '\u0000', chance.below(text.length)),
  'a broken byte': (text, chance) => brokenAt(text, chance.below(text.length), chance.below(256)),
  'UTF-16': (text) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  comments: (text) => text.replace('{', '{/* x */'),
  'a trailing comma': (text) => text.replace(/\}$/, ',}'),
  'NaN and friends': (text, chance) =>
    text.replace(
      '{',
      `{"temperature":${chance.one(['NaN', 'Infinity', '01', '+1', '.5', '0x1'])},`,
    ),
  'deep nesting alone': (_text, chance) => chance.one(DEEP_VALUES),
  'deep nesting without an end': (_text, chance) => chance.one(['[', '{"a":']).repeat(NEST_DEPTH),
  'random bytes': (_text, chance) =>
    Buffer.from(Array.from({ length: chance.below(400) }, () => chance.below(256))),
  'another value': (_text, chance) => chance.one(['', ' ', '0', '"x"', '[]', 'true', 'null', '{}']),
}

const insert = (text: string, what: string, at: number): string =>
  text.slice(0, at) + what + text.slice(at)

function brokenAt(text: string, at: number, byte: number): Buffer {
  const bytes = Buffer.from(text)
  bytes[at] = byte
  return bytes
}

/** Odd, and JSON all the same. */
const ODD_JSON: Record<string, (text: string, chance: Chance) => string> = {
  'a BOM': (text) => `\ufeff${text}`,
  'much white space': (text, chance) =>
    text.replaceAll(',', `,${' \n\t\r'.repeat(chance.below(99))}`),
  'duplicate keys': (text, chance) =>
    text.replace('{', `{"model":${chance.one(['1', '"x"', 'null'])},"messages":[],`),
  'keys of prototypes': (text, chance) =>
    text.replace(
      '{',
      `{${chance.one([
        '"__proto__":{"stream":true,"isPolluted":true}',
        '"constructor":{"prototype":{"isPolluted":true}}',
        '"toString":1',
        '"toJSON":{}',
        '"hasOwnProperty":null',
      ])},`,
    ),
  'lone surrogates': (text, chance) =>
    text.replace('Olá', chance.one(['\\ud800', '\\udfff x', '\\ud83d\\ud83d', '\\udc00\\ud800'])),
  'deep nesting in a field': (text, chance) =>
    text.replace(
      '{',
      `{"${chance.one(['metadata', 'x', 'tool_choice', 'stop', 'user', 'prediction'])}":${chance.one(DEEP_VALUES)},`,
    ),
  'a huge number': (text, chance) =>
    text.replace(
      '{',
      `{"${chance.one(['seed', 'max_tokens', 'n', 'top_p', 'x'])}":${chance.one(RAW_VALUES.slice(0, 7))},`,
    ),
}

function malformedJson(chance: Chance): Case {
  const text = JSON.stringify(fullRequest(chance))
  if (chance.happens(0.6)) {
    const [kind, fault] = chance.one(Object.entries(FAULTS_OF_JSON))
    // A byte may have become another sound one, and then the request is sound.
    const isFaulty = kind !== 'a broken byte'
    return soundHttp(
      chance,
      `JSON: ${kind}`,
      { body: fault(text, chance) },
      isFaulty ? { status: 400 } : {},
    )
  }
  const [kind, change] = chance.one(Object.entries(ODD_JSON))
  return soundHttp(chance, `odd JSON: ${kind}`, { body: change(text, chance) })
}

const wrongTypes = (chance: Chance): Case =>
  soundHttp(chance, 'a wrong type', { body: mutatedBody(chance) })

function hugeBody(chance: Chance): Case {
  const size = BODY_BYTES_MAX + chance.one([-1, 0, 1, 1_000, BODY_BYTES_MAX])
  const empty = JSON.stringify(sound('sandbox-chat', { user: '' }))
  const body = empty.replace('"user":"', `"user":"${'a'.repeat(size - Buffer.byteLength(empty))}`)
  const isTooLarge = size > BODY_BYTES_MAX
  const isChunked = chance.happens(0.5)
  return soundHttp(
    chance,
    isChunked ? 'a huge body in chunks' : 'a huge body',
    isChunked
      ? { body: chunked(body), framing: [['transfer-encoding', 'chunked']] }
      : { body, framing: [['content-length', String(size)]] },
    isTooLarge ? { status: 413, isAlone: true, mayBeCut: true } : { isAlone: true },
  )
}

function chunked(body: string, size = 16_384): Buffer {
  const bytes = Buffer.from(body)
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const part = bytes.subarray(at, at + size)
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

// ── headers, paths, framing ─────────────────────────────────────────────────────────────────────

const GARBAGE = [
  '',
  ' ',
  'x',
  '"',
  ';',
  ',',
  '/',
  '=',
  '\u00ff\u0080',
  '\t',
  '*',
  'null',
  '__proto__',
  '-1',
  '1e9',
  'a'.repeat(4_000),
  ';;;;=,,,,',
  '"'.repeat(99),
  '%00%ff',
  '() { :; }',
  '00000000-0000-0000-0000-000000000000',
  '../../etc/passwd',
]

const HEADER_NAMES = [
  'authorization',
  'x-svc-request-id',
  'x-svc-session-id',
  'content-type',
  'content-encoding',
  'accept',
  'accept-encoding',
  'host',
  'cookie',
  'x-forwarded-for',
  'x-forwarded-proto',
  'forwarded',
  'traceparent',
  'te',
  'range',
  'if-none-match',
  'if-modified-since',
  'origin',
  'x-http-method-override',
  '__proto__',
  'constructor',
  'toString',
]

const AUTHORIZATIONS = [
  'Bearer',
  'Bearer ',
  'bearer x y',
  'Basic eDp5',
  'Bearer sk-svc-none',
  'Bearer \u00ff',
  'Digest username="x"',
  `Bearer ${'x'.repeat(8_000)}`,
  "Bearer ' or 1=1 --",
]

const CONTENT_TYPES = [
  'application/json; charset=utf-16',
  'application/json; charset="',
  'application/json;;;',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  'application/',
  '/json',
  `application/json; x=${'y'.repeat(3_000)}`,
]

function oddHeaders(chance: Chance): Case {
  const count = 1 + chance.below(4)
  const headers = Array.from({ length: count }, () => {
    const name = chance.one(HEADER_NAMES)
    if (name === 'authorization' && chance.happens(0.7))
      return [name, chance.one(AUTHORIZATIONS)] as const
    if (name === 'content-type' && chance.happens(0.7))
      return [name, chance.one(CONTENT_TYPES)] as const
    return [name, chance.one(GARBAGE)] as const
  })
  // Together they are to stay below the 16 KiB that headers may have.
  const isLarge = headers.reduce((sum, [, value]) => sum + value.length, 0) > 12_000
  return soundHttp(
    chance,
    'odd headers',
    {
      headers: isLarge ? headers.slice(0, 1) : headers,
      ...(chance.happens(0.3)
        ? { method: 'GET', path: chance.one(['/v1/usage', '/v1/models', '/v1/healthz']) }
        : { body: JSON.stringify(sound()) }),
    },
    { isAlone: headers.some(([name]) => name === 'host') },
  )
}

function oddEncoding(chance: Chance): Case {
  const body = JSON.stringify(sound())
  const alone = { isAlone: true }
  switch (chance.below(7)) {
    case 0:
      return soundHttp(chance, 'gzip in truth', {
        headers: [['content-encoding', 'gzip']],
        body: gzipSync(body),
      })
    case 1:
      return soundHttp(chance, 'gzip in name only', {
        headers: [['content-encoding', chance.one(['gzip', 'br', 'deflate', 'zstd', 'x, gzip'])]],
        body,
      })
    case 2:
      return soundHttp(chance, 'a charset', {
        headers: [['content-type', `application/json; charset=${chance.one(['utf-7', 'x', ''])}`]],
        body: chance.happens(0.5) ? Buffer.from(body, 'latin1') : body,
      })
    case 3:
      return soundHttp(chance, 'small chunks', {
        body: chunked(body, 1 + chance.below(20)),
        framing: [['transfer-encoding', 'chunked']],
      })
    case 4:
      return soundHttp(
        chance,
        'Expect: 100-continue',
        { headers: [['expect', '100-continue']], body },
        alone,
      )
    case 5:
      return soundHttp(
        chance,
        'HTTP/1.0',
        { version: '1.0', body: chance.happens(0.8) ? body : '' },
        alone,
      )
    default:
      return soundHttp(
        chance,
        'an upgrade',
        {
          headers: [
            ['connection', 'upgrade'],
            ['upgrade', chance.one(['websocket', 'h2c', 'x', 'TLS/1.0'])],
          ],
          ...(chance.happens(0.5)
            ? { method: 'GET', path: chance.one(['/v1/models', '/v1/usage', '/v1/none']) }
            : { body }),
        },
        alone,
      )
  }
}

const PATHS = [
  CHAT,
  `${CHAT}/`,
  `${CHAT}?x=%`,
  `${CHAT}?${'a=b&'.repeat(900)}`,
  `${CHAT};x=y`,
  `${CHAT}%00`,
  `${CHAT}%2f..`,
  '/v1/chat%2Fcompletions',
  '/v1//chat/completions',
  '/v1/chat/./completions',
  '/v1/chat/../chat/completions',
  '/v1/chat/completions/%E0%A4%A',
  '/v1/%',
  '/v1/%zz',
  '/v1/%ff%fe',
  '/v1/%E0%A4%A',
  '/v1/models/%',
  '/v1/models?category=%',
  '/v1/models?category[]=llm',
  '/v1/models?category=llm&category=llm&__proto__=x',
  '/v1/models/__proto__',
  '/v1/usage?from=__proto__',
  '/v1/usage/x',
  '/v1/embeddings',
  '/v1/rerank',
  '/v1/moderations',
  '/v1/images/generations',
  '/v1/images/edits',
  '/v1/completions',
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1beta/models',
  '/v1beta/models?pageSize=__proto__&key=%00',
  '/v1beta/models/__proto__:generateContent',
  '/v1beta/models/sandbox-chat:streamGenerateContent?alt=sse&key=x',
  '/v1beta/models/sandbox-chat%3AcountTokens',
  '/v1beta/models/%:generateContent',
  '/v1beta/none',
  '/v1/responses',
  '/v1/responses/x',
  '/v1/me/none',
  '/v1/healthz',
  '/v1/healthz/db',
  `/v1/${'a'.repeat(3_000)}`,
  `/v1/${'a/'.repeat(1_000)}`,
  `/v1/models/${'%41'.repeat(500)}`,
  '/v1/constructor',
  '/v1?',
  '/v1',
  '/v1#x',
  '/V1/chat/completions',
  '/',
  '/..',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/metrics/x',
  '//',
  '/*',
]

/** In the form that clients send to proxies, and that every server has to take. */
const ABSOLUTE_TARGETS = [CHAT, '/v1/chat/none', '/v1/none', '/v1/healthz', '/v1/usage'].map(
  (path) => `http://gateway.test${path}`,
)

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE']
const RARE_METHODS = ['PROPFIND', 'QUERY', 'PURGE', 'LOCK', 'M-SEARCH', 'SUBSCRIBE', 'REPORT']

function oddPath(chance: Chance): Case {
  const method = chance.one(chance.happens(0.3) ? RARE_METHODS : METHODS)
  const path = chance.one(chance.happens(0.1) ? ABSOLUTE_TARGETS : PATHS)
  const kind = `${method} ${path.slice(0, 40)}`
  const isBare = method === 'GET' || method === 'HEAD' || chance.happens(0.3)
  return soundHttp(chance, kind, {
    method,
    path,
    ...(chance.happens(0.3) ? { headers: [['authorization', chance.one(AUTHORIZATIONS)]] } : {}),
    ...(isBare ? {} : { body: chance.happens(0.5) ? mutatedBody(chance) : '' }),
  })
}

/** Requests whose bytes are no HTTP, or HTTP that contradicts itself. */
const BROKEN: Record<string, (chance: Chance) => Buffer> = {
  'duplicate content-length': (chance) =>
    rawRequest({
      body: soundBody(),
      framing: [
        ['content-length', String(Buffer.byteLength(soundBody()))],
        ['content-length', String(chance.below(1_000))],
      ],
    }),
  'a length and chunks': () =>
    rawRequest({
      body: chunked(soundBody()),
      framing: [
        ['content-length', '5'],
        ['transfer-encoding', 'chunked'],
      ],
    }),
  'a length that is no number': (chance) =>
    rawRequest({
      body: soundBody(),
      framing: [['content-length', chance.one(['x', '-1', '1e3', '0x10', '1,1', '9'.repeat(30)])]],
    }),
  'a length too short': (chance) =>
    rawRequest({ body: soundBody(), framing: [['content-length', String(chance.below(40))]] }),
  'a length too long': (chance) =>
    rawRequest({
      body: soundBody(),
      framing: [['content-length', String(90 + chance.below(90_000))]],
    }),
  'broken chunks': (chance) =>
    rawRequest({
      body: chance.one([
        'zz\r\nabc\r\n0\r\n\r\n',
        '-1\r\n\r\n',
        '5\r\nabc\r\n0\r\n\r\n',
        'ffffffffffffffffff\r\nx',
        '3\nabc\n0\n\n',
        `3;${'x'.repeat(20_000)}\r\nabc\r\n0\r\n\r\n`,
        soundBody(),
        '0\r\nx-trailer: \u0000\r\n\r\n',
        '5\r\n',
      ]),
      framing: [['transfer-encoding', chance.one(['chunked', 'chunked, x', 'gzip, chunked', 'x'])]],
    }),
  'oversized headers': (chance) =>
    rawRequest({
      headers: [['x-large', 'a'.repeat(16_384 + chance.below(60_000))]],
      body: soundBody(),
    }),
  'too many headers': (chance) =>
    rawRequest({
      headers: Array.from({ length: 2_000 + chance.below(3_000) }, (_, at) => [`x-${at}`, 'y']),
      body: soundBody(),
    }),
  'invalid header bytes': (chance) =>
    rawRequest({
      headers: [[chance.one(['x y', 'x\u0000', '', 'x(', '\u00ff', 'x']), '\u0000\u0001\u007f']],
      body: soundBody(),
    }),
  'a bare line feed': () =>
    Buffer.from(`POST ${CHAT} HTTP/1.1\nhost: x\ncontent-length: 2\n\n{}`, 'latin1'),
  'a folded header': () => rawRequest({ headers: [['x-one', 'a\r\n b']], body: soundBody() }),
  'no host': () => Buffer.from(`POST ${CHAT} HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}`),
  'two hosts': () =>
    rawRequest({
      headers: [
        ['host', 'a'],
        ['host', 'b'],
      ],
      body: soundBody(),
    }),
  'an unknown version': (chance) =>
    rawRequest({
      version: chance.one(['9.9', '2.0', '0.9', 'x', '1.1 x', '1.']),
      body: soundBody(),
    }),
  'an unknown method': (chance) =>
    rawRequest({
      method: chance.one(['CHEF', 'post', '', 'GET POST', '\u0000', 'PRI']),
      body: soundBody(),
    }),
  'a target that is none': (chance) =>
    rawRequest({
      path: chance.one(['', '*', 'v1/chat', '/v1/a b', '/v1/\u00ff\u0080', '/v1/\u0000', '?', '#']),
      body: soundBody(),
    }),
  'an odd absolute target': (chance) =>
    rawRequest({
      path: chance.one([
        `https://x:99999${CHAT}`,
        'http://',
        'http://[::1',
        'ftp://x/v1',
        `http://${'a'.repeat(5_000)}/v1/models`,
      ]),
      body: soundBody(),
    }),
  'a tunnel': () => Buffer.from('CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n'),
  'HTTP/2': () => Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u0000\u0000\u0000\u0004', 'latin1'),
  TLS: () => Buffer.from('160301020001000001fc0303', 'hex'),
  'random bytes': (chance) =>
    Buffer.from(Array.from({ length: 1 + chance.below(3_000) }, () => chance.below(256))),
  'an expectation': (chance) =>
    rawRequest({
      headers: [['expect', chance.one(['x', '200-ok', '', '100-continue, x'])]],
      body: '{}',
    }),
  'a byte of the head changed': (chance) => {
    const bytes = rawRequest({ body: soundBody() })
    bytes[chance.below(bytes.length)] = chance.below(256)
    return bytes
  },
  'garbage after a sound request': (chance) =>
    Buffer.concat([
      rawRequest({ body: soundBody() }),
      Buffer.from(chance.one(['x', '\r\n\r\n', '{"a":1}', 'GET', '\u0000\u0000'])),
    ]),
}

const soundBody = (): string => JSON.stringify(sound())

function brokenHttp(chance: Chance): Case {
  const [kind, make] = chance.one(Object.entries(BROKEN))
  return { kind: `broken: ${kind}`, broken: make(chance) }
}

function pipelined(chance: Chance): Case {
  const cases = Array.from({ length: 2 + chance.below(6) }, () =>
    chance.one([wrongTypes, malformedJson, soundHealth])(chance),
  ) as Extract<Case, { send: Buffer }>[]
  return {
    kind: `pipelined: ${cases.map(({ kind }) => kind).join(', ')}`,
    send: Buffer.concat(cases.map(({ send }) => send)),
    sent: cases.flatMap(({ sent }) => sent),
    isAlone: true,
  }
}

const soundHealth = (chance: Chance): Case =>
  soundHttp(chance, 'health', { method: 'GET', path: '/v1/healthz' }, { status: 200 })

function leavingClient(chance: Chance): Case {
  const stream = chance.happens(0.6)
  const whole = rawRequest({ body: JSON.stringify(sound('sandbox-chat', { stream })) })
  if (chance.happens(0.4)) {
    const left = whole.subarray(0, 1 + chance.below(whole.length - 1))
    return { kind: 'leaves in the request', left, leaves: chance.below(4) }
  }
  if (chance.happens(0.5)) return { kind: 'leaves at once', left: whole, leaves: chance.below(12) }
  return { kind: 'leaves in the answer', left: whole, leaves: 'in_answer' }
}

const KINDS: readonly (readonly [weight: number, make: (chance: Chance) => Case])[] = [
  [36, wrongTypes],
  [22, malformedJson],
  [10, oddHeaders],
  [6, oddEncoding],
  [10, oddPath],
  [9, brokenHttp],
  [4, leavingClient],
  [2, pipelined],
  [0.6, hugeBody],
]

/** Follows from the seed and the number alone, so that one case can be made again. */
function caseOf(index: number): Case {
  const chance = createChance(Math.imul(SEED, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  const total = KINDS.reduce((sum, [weight]) => sum + weight, 0)
  let point = (chance.below(1_000_000) / 1_000_000) * total
  for (const [weight, make] of KINDS) {
    point -= weight
    if (point < 0) return make(chance)
  }
  return wrongTypes(chance)
}

// ── a connection ────────────────────────────────────────────────────────────────────────────────

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly isWhole: boolean
  readonly isLast: boolean
  /** When the connection last sent something. */
  readonly askedAtMs: number
}

/** A client that sends any bytes and reads HTTP/1.1 answers. */
class Connection {
  readonly #socket: Socket
  #bytes = Buffer.alloc(0)
  #isOver = false
  #sentAtMs = Date.now()
  #wake: () => void = () => {}

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (bytes) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes])
      this.#wake()
    })
    const over = (): void => {
      this.#isOver = true
      this.#wake()
    }
    socket.on('error', over).on('end', over).on('close', over)
  }

  static async open(): Promise<Connection> {
    const socket = connect({ port: gateway.node.port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    return new Connection(socket)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  send(bytes: Buffer): void {
    this.#sentAtMs = Date.now()
    this.#socket.write(bytes)
  }

  /** No more will be sent. */
  end(): void {
    this.#socket.end()
  }

  destroy(): void {
    this.#socket.destroy()
  }

  /** Throws where nothing comes for too long. False: the server has hung up. */
  async more(): Promise<boolean> {
    const known = this.#bytes.length
    const deadline = Date.now() + PATIENCE_MS
    while (this.#bytes.length === known) {
      if (this.#isOver) return false
      if (Date.now() > deadline) throw new Error('no answer came')
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, PATIENCE_MS)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    return true
  }

  /** The next final answer; undefined where the server hangs up instead. */
  async read(method: string): Promise<Answer | undefined> {
    for (;;) {
      const end = await this.#find('\r\n\r\n')
      if (end === -1) return undefined
      const [statusLine = '', ...lines] = this.#take(end + 4)
        .toString('latin1')
        .trim()
        .split('\r\n')
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1])
      if (status === 100) continue
      assert.ok(status > 0, `the answer begins with "${statusLine.slice(0, 80)}"`)
      const headers = new Headers(
        lines.map((line): [string, string] => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon), line.slice(colon + 1).trim()]
        }),
      )
      const body = await this.#readBody(method, status, headers)
      return {
        status,
        headers,
        text: (body ?? Buffer.alloc(0)).toString(),
        isWhole: body !== undefined,
        isLast: headers.get('connection') === 'close',
        askedAtMs: this.#sentAtMs,
      }
    }
  }

  async #readBody(method: string, status: number, headers: Headers): Promise<Buffer | undefined> {
    if (method === 'HEAD' || status === 204 || status === 304) return Buffer.alloc(0)
    if (headers.get('transfer-encoding') === 'chunked') return this.#readChunks()
    const length = headers.get('content-length')
    if (length !== null) return this.#exactly(Number(length))
    while (await this.more());
    return this.#take(this.#bytes.length)
  }

  async #readChunks(): Promise<Buffer | undefined> {
    const parts: Buffer[] = []
    for (;;) {
      const end = await this.#find('\r\n')
      if (end === -1) return undefined
      const size = Number.parseInt(this.#take(end + 2).toString('latin1'), 16)
      const part = await this.#exactly(size + 2)
      if (!part) return undefined
      if (size === 0) return Buffer.concat(parts)
      parts.push(part.subarray(0, size))
    }
  }

  async #find(text: string): Promise<number> {
    for (;;) {
      const at = this.#bytes.indexOf(text)
      if (at !== -1 || !(await this.more())) return at
    }
  }

  async #exactly(length: number): Promise<Buffer | undefined> {
    while (this.#bytes.length < length) if (!(await this.more())) return undefined
    return this.#take(length)
  }

  #take(length: number): Buffer {
    const taken = this.#bytes.subarray(0, length)
    this.#bytes = this.#bytes.subarray(length)
    return taken
  }
}

// ── what has to hold ────────────────────────────────────────────────────────────────────────────

const MODEL_CALL =
  /^\/v1\/(chat|completions|embeddings|rerank|moderations|images|audio|responses|messages)(\/|$|\?)/

/** Of the framework's own errors. */
const FRAMEWORK_ERROR = /FST_|"statusCode"/

/** True of every answer, also of one to bytes that were no HTTP. */
function checkAny(answer: Answer, mayNameUpstreams = false): void {
  assert.ok(answer.status < 500, `status ${answer.status}: ${answer.text.slice(0, 200)}`)
  // The specification has the catalog name the upstream of each model; the dashboard is a page.
  assertNoTrace(mayNameUpstreams ? { ...answer, text: '' } : answer)
}

function checkSound(sent: Sent, answer: Answer): void {
  const { method } = sent
  const path = sent.path.replace(/^http:\/\/[^/]*/, '')
  const isPage = path.split('?')[0] === '/' || path.startsWith('//')
  checkAny(answer, answer.status === 200 && (isPage || path.startsWith('/v1/models')))
  assert.ok(answer.isWhole, 'the answer was cut')
  assert.doesNotMatch(answer.text, FRAMEWORK_ERROR)
  if (sent.status !== undefined) assert.equal(answer.status, sent.status, answer.text.slice(0, 200))
  if (!/^\/v1(\/|$|\?)/.test(path)) return
  assertHeaders(answer, sent.requestId)
  if (method === 'HEAD') return
  if (answer.status >= 400) return checkError(method, path, answer)
  if (path.split('?')[0] === CHAT && method === 'POST') checkCompletion(answer)
}

function checkError(method: string, path: string, answer: Answer): void {
  if (answer.status === 401 && path.startsWith('/v1/models'))
    return assert.equal(JSON.parse(answer.text).error.code, 'authentication_failed')
  if (answer.status === 401 && !MODEL_CALL.test(path)) return assert.equal(answer.text, '')
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
  const body = JSON.parse(answer.text)
  // Client libraries ask for a model by its id, so its 404 has the format of model calls.
  const isModel = method === 'GET' && answer.status === 404 && path.startsWith('/v1/models/')
  if (isModel || MODEL_CALL.test(path.replace('/v1//', '/v1/'))) {
    const isOf = (format: string): boolean => path.startsWith(`/v1/${format}`)
    const fields = isOf('messages') ? ['error', 'request_id', 'type'] : ['error']
    assert.deepEqual(Object.keys(body).sort(), fields, answer.text.slice(0, 200))
    const { param = null, ...texts } = body.error
    assert.equal(param, null)
    assert.deepEqual(Object.keys(texts).sort(), ['code', 'message', 'type'])
    for (const value of Object.values(texts)) assert.equal(typeof value, 'string')
    return
  }
  assert.equal(typeof body.error, 'string', answer.text.slice(0, 200))
  for (const [name, value] of Object.entries(body)) {
    assert.ok(name === 'error' || name === 'details', `the error has a field "${name}"`)
    assert.equal(typeof value, 'string')
  }
}

function checkCompletion({ headers, text }: Answer): void {
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('application/json')) {
    assert.equal(JSON.parse(text).object, 'chat.completion')
    return
  }
  assert.match(type, /^text\/event-stream\b/)
  const events = eventsOf(text)
  assert.equal(events.pop(), '[DONE]', 'the stream has its end')
  for (const event of events) assert.equal(JSON.parse(event).object, 'chat.completion.chunk')
}

// ── the run ─────────────────────────────────────────────────────────────────────────────────────

interface Tally {
  requests: number
  answers: number
  readonly byStatus: Map<number, number>
  readonly failures: { index: number; kind: string; why: string }[]
}

const tally: Tally = { requests: 0, answers: 0, byStatus: new Map(), failures: [] }

function noteAnswer({ status }: Answer): void {
  tally.answers += 1
  tally.byStatus.set(status, (tally.byStatus.get(status) ?? 0) + 1)
}

/** One failure of each sort. */
function shownFailures(): string {
  const sorts = Map.groupBy(tally.failures, ({ kind, why }) => `${kind}: ${why}`)
  return [...sorts]
    .slice(0, FAILURES_SHOWN)
    .map(([sort, failures]) => `${failures.length} as #${failures[0]?.index}, ${sort}`)
    .join('\n')
}

/** Runs cases one after another; those that can share one connection do. */
async function work(takeNext: () => number | undefined): Promise<void> {
  let shared: Connection | undefined
  for (let index = takeNext(); index !== undefined; index = takeNext()) {
    const one = caseOf(index)
    try {
      if ('broken' in one) await runBroken(one.broken)
      else if ('left' in one) await runLeaving(one.left, one.leaves)
      else if (one.isAlone) (await runSound(one, await Connection.open()))?.destroy()
      else {
        if (shared?.isOver) shared = undefined
        shared = await runSound(one, shared ?? (await Connection.open()))
      }
    } catch (error) {
      shared?.destroy()
      shared = undefined
      const why = (error as Error).message.replaceAll(/\s+/g, ' ').slice(0, 300)
      tally.failures.push({ index, kind: one.kind, why })
      if (gateway.node.process.exitCode !== null) return
    }
  }
  shared?.destroy()
}

/** The connection, where more can be sent over it. */
async function runSound(
  one: Extract<Case, { send: Buffer }>,
  connection: Connection,
): Promise<Connection | undefined> {
  let isLast = false
  connection.send(one.send)
  for (const sent of one.sent) {
    tally.requests += 1
    if (isLast) continue
    const answer = await connection.read(sent.method)
    if (!answer && one.mayBeCut) break
    assert.ok(answer, 'the server hung up without an answer')
    noteAnswer(answer)
    checkSound(sent, answer)
    isLast = answer.isLast
  }
  if (!isLast && !one.mayBeCut) return connection
  connection.destroy()
  return undefined
}

async function runBroken(bytes: Buffer): Promise<void> {
  tally.requests += 1
  const connection = await Connection.open()
  connection.send(bytes)
  // Time for an answer to what was taken for a request, then the client's end of the connection.
  await Promise.race([connection.more(), sleep(15)])
  connection.end()
  try {
    for (;;) {
      const answer = await connection.read('GET')
      if (!answer) return
      noteAnswer(answer)
      checkAny(answer)
      // The bytes after the answer to a HEAD cannot be judged here.
      if (!answer.isWhole) return
    }
  } finally {
    connection.destroy()
  }
}

async function runLeaving(bytes: Buffer, leaves: number | 'in_answer'): Promise<void> {
  tally.requests += 1
  const connection = await Connection.open()
  connection.send(bytes)
  if (leaves === 'in_answer') await connection.more()
  else await sleep(leaves)
  connection.destroy()
}

test(`${REQUESTS_MIN} malformed and valid requests: no 5xx, and every valid one gets an answer in the right format`, async (t) => {
  const only = process.env.FUZZ_CASE
  let next = only === undefined ? 0 : Number(only)
  const end = only === undefined ? CASES : next + 1
  const takeNext = (): number | undefined => (next < end ? next++ : undefined)
  await Promise.all(Array.from({ length: PARALLEL }, () => work(takeNext)))
  const statuses = [...tally.byStatus]
    .sort(([one], [other]) => one - other)
    .map(([status, count]) => `${status}: ${count}`)
  t.diagnostic(`${tally.requests} requests, ${tally.answers} answers (${statuses.join(', ')})`)
  assert.equal(
    tally.failures.length,
    0,
    `TEST_SEED=${SEED}: ${tally.failures.length} failures (one alone: FUZZ_CASE=<number>)\n${shownFailures()}`,
  )
  if (only !== undefined) return
  assert.ok(tally.requests >= REQUESTS_MIN, `only ${tally.requests} requests`)
  for (const status of [200, 400, 401, 404, 413])
    assert.ok(tally.byStatus.has(status), `no answer was a ${status}`)
})

test('the process keeps running, and its log has no internal error', () => {
  const { exitCode, signalCode } = gateway.node.process
  // Where it says that it stops, a signal came from outside of this test.
  const stopping = gateway.node.log.filter((line) => line.includes('"stopping"'))
  const lastLines = [...stopping, ...gateway.node.log.slice(-3)].join('\n')
  assert.deepEqual([exitCode, signalCode], [null, null], `it ended, after:\n${lastLines}`)
  const faults = gateway.node.log.filter((line) =>
    /_failed|uncaught|unhandled|TypeError/i.test(line.replace('upstream_failed', '')),
  )
  assert.deepEqual(faults.slice(0, 10), [])
})

test('a valid request still works, plain and as a stream', async () => {
  for (const stream of [false, true]) {
    const answer = await askChat(gateway.node.baseUrl, gateway.secret, {
      ...sound(),
      stream,
    })
    assert.equal(answer.status, 200)
    assertHeaders(answer, answer.requestId)
    assertNoTrace(answer)
  }
})

test('no hold is open, the audit passes, and every answer was charged', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
  const account = await findAccount(gateway.database.db, gateway.customerId)
  assert.ok((account?.chargedNanoBrl ?? 0n) > 0n)
})

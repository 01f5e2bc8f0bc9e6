// deep: generated streams
/**
 * Events that only add text take a shorter way through the relay, in every format: it must show, count and end a stream
 * as the long way does, whatever the upstream sends and wherever its bytes are cut.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HeldCall } from '../../src/gateway/calls/call.ts'
import type { ChatFormat, ChatWriter } from '../../src/gateway/calls/chat/chat-format.ts'
import { createChatCompletionsFormat } from '../../src/gateway/calls/chat/formats/chat-completions/chat-completions-format.ts'
import { createMessagesFormat } from '../../src/gateway/calls/chat/formats/messages/messages-format.ts'
import { createResponsesFormat } from '../../src/gateway/calls/chat/formats/responses/responses-format.ts'
import { relayStream } from '../../src/gateway/calls/chat/relay-stream.ts'
import { createToolCallIds } from '../../src/gateway/calls/chat/tool-call-ids.ts'
import type { Client } from '../../src/gateway/calls/client.ts'
import { isRefusal } from '../../src/gateway/calls/refusal.ts'
import { createMessageParser } from '../../src/gateway/providers/ai-sdk/native-messages/read-native-message.ts'
import type { ChatStream } from '../../src/gateway/providers/contract.ts'
import { createStream } from '../../src/gateway/providers/openai-compatible/create-stream.ts'
import type { AnswerBody } from '../../src/gateway/providers/openai-compatible/exchange.ts'
import { readNativeStream } from '../../src/gateway/providers/openai-compatible/native-responses/read-native-response.ts'
import { readStream } from '../../src/gateway/providers/openai-compatible/read-stream.ts'
import { effort } from '../harness/effort.ts'
import fc, { anyCharacter } from '../harness/fast-check.ts'

const ids = createToolCallIds([Buffer.alloc(32, 5)])
/** Without the nonce of a real seal: both ways write the same. */
const seals = () => ({
  seal: (kept: object) => JSON.stringify(kept),
  open: () => undefined,
  isOwn: () => false,
  sealSummary: (text: string) => text,
  openSummary: () => undefined,
})
// A true seal is another one each time.
const responses = createResponsesFormat(
  () => ({
    seal: (kept) => JSON.stringify(kept),
    open: () => undefined,
    isOwn: () => false,
    sealSummary: (text: string) => text,
    openSummary: () => undefined,
  }),
  ids,
)

/** A client format over an upstream of the same format, or over another one whose stream is translated. */
interface Way {
  readonly format: ChatFormat
  readonly request: object
  readonly read: (body: AnswerBody) => ChatStream
  readonly events: fc.Arbitrary<string>
  readonly start: readonly string[]
  readonly end: readonly string[]
}

/** JSON strings without their quotation marks: what upstreams send, and what only looks like it. */
const jsonTexts = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(' gira', 'a', 'ção', '🎟️', '\\n', '{\\"a\\":1}', '\\\\'),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '',
      '\\u0061',
      '\\/',
      '\\ud83d',
      '\\u0000',
      '\\\\u0061',
      '\\\\\\"',
      '\u2028',
      '\t',

      '\\"delta\\":\\"x',
      '\\"text\\":',
      '"',
      '\\',
      '\\x',
      '","text":"b',
      '"}',
      '\u007f',
      '\ufeff',
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: anyCharacter, maxLength: 12 })
      .map((text) => JSON.stringify(text).slice(1, -1)),
  },
)
const numbers = fc.oneof(
  { weight: 6, arbitrary: fc.nat({ max: 2_000 }).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '01',
      '-1',
      '1.5',
      '1e3',
      '1e999',
      '"7"',
      'null',
      '',
      '12345678901234567890',
    ),
  },
)
const fills = fc.record({
  text: jsonTexts,
  other: jsonTexts,
  number: numbers,
  index: fc.constantFrom('0', '0', '0', '1', '7', 'null', '"0"', '1e999'),
})
type Fill = typeof fills extends fc.Arbitrary<infer Value> ? Value : never

/** Runs of one shape with other texts, as models send them, in which a few bytes may be changed. */
function eventsLike(shapes: readonly ((fill: Fill) => string)[], others: readonly string[]) {
  const run = fc
    .tuple(fc.constantFrom(...shapes), fills, fc.array(fills, { maxLength: 5 }), fc.boolean())
    .map(([shape, first, rest, isAlike]) =>
      [first, ...rest].map((fill) => shape(isAlike ? { ...fill, index: first.index } : fill)),
    )
  const changed = fc
    .tuple(
      run,
      fc.nat(),
      fc.constantFrom('"', '\\', '}', ',', ':', ' ', '0', '\t', ''),
      fc.boolean(),
    )
    .map(([events, at, by, isAtEnd]) =>
      events.map((event, place) => {
        const here = isAtEnd ? event.length : at % event.length
        return place === 1 ? event.slice(0, here) + by + event.slice(here + 1) : event
      }),
    )
  return fc
    .oneof(
      { weight: 8, arbitrary: run },
      { weight: 1, arbitrary: changed },
      { weight: 2, arbitrary: fc.constantFrom(...others).map((one) => [one]) },
    )
    .map((events) => events.join('\n\n'))
}

const chatShapes: readonly ((fill: Fill) => string)[] = [
  ({ text }) => `{"id":"up","choices":[{"index":0,"delta":{"content":"${text}"}}],"usage":null}`,
  ({ text, other }) =>
    `{"choices":[{"index":0,"delta":{"content":"${text}"}}],"obfuscation":"${other}"}`,
  ({ text, other }) =>
    `{"obfuscation":"${other}","choices":[{"index":0,"delta":{"reasoning_content":"${text}"}}]}`,
  ({ text }) => `{"choices":[{"index":0,"delta":{"refusal":"${text}","content":null}}]}`,
  ({ text, index }) =>
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":${index},"function":{"arguments":"${text}"}}]}}]}`,
  ({ text }) =>
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"toolu_1","function":{"arguments":"${text}"}}]}}]}`,
  ({ text, other }) =>
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"${other}","arguments":"${text}"}}]}}]}`,
  ({ text, other }) =>
    `{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"${text}"},"custom":{"input":"${other}"}}]}}]}`,
  ({ text, other }) =>
    `{"choices":[{"index":0,"delta":{"role":{"obfuscation":"${other}"},"content":"${text}"}}]}`,
  ({ text, other }) =>
    `{"choices":[{"index":0,"delta":{"content":"${text}","\\u0063ontent":"${other}"}}]}`,
  ({ text, other }) =>
    `{"choices":[{"index":0,"delta":{"content":"${text}","reasoning":"${other}"}}]}`,
  ({ text, index }) => `{"choices":[{"index":${index},"delta":{"content":"${text}"},"secret":1}]}`,
]
const chat: Way = {
  format: createChatCompletionsFormat(ids, () => assert.fail('a chat, not a response')),
  request: { model: 'm', messages: [{ role: 'user', content: 'Olá' }], stream: true },
  read: (body) => readStream(body, { outputTokensMax: 64 }),
  events: eventsLike(chatShapes, [
    '{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}',
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}',
    '{"error":{"message":"x"}}',
    '[DONE]',
    '{}',
  ]),
  start: [],
  end: ['{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}', '[DONE]'],
}

const blockDelta = (fields: string) => `{"type":"content_block_delta",${fields}}`
const messages: Way = {
  format: createMessagesFormat(ids, seals),
  request: {
    model: 'm',
    max_tokens: 64,
    messages: [{ role: 'user', content: 'Olá' }],
    stream: true,
  },
  read: (body) =>
    createStream(
      body,
      createMessageParser({
        hasCacheControl: true,
        cachesForAnHour: false,
        hasAudio: false,
        webSearchesMax: 0,
        outputTokensMax: 64,
      }),
    ),
  events: eventsLike(
    [
      ({ text, index }) =>
        blockDelta(`"index":${index},"delta":{"type":"text_delta","text":"${text}"}`),
      ({ text }) => blockDelta(`"index":0,"delta":{"type":"thinking_delta","thinking":"${text}"}`),
      ({ text }) =>
        blockDelta(`"index":1,"delta":{"type":"input_json_delta","partial_json":"${text}"}`),
      ({ text }) =>
        blockDelta(`"index":0,"delta":{"type":"signature_delta","signature":"${text}"}`),
      ({ text, index }) =>
        `{"delta": {"text": "${text}", "type": "text_delta"}, "index": ${index}, "type": "content_block_delta"}`,
      ({ text, other }) =>
        blockDelta(
          `"index":0,"delta":{"type":"text_delta","text":"${text}","secret":"${other}"},"x":{"text":1}`,
        ),
      ({ text, other }) =>
        blockDelta(
          `"index":0,"delta":{"type":"text_delta","text":"${text}","\\u0074ext":"${other}"}`,
        ),
      ({ text, other }) =>
        blockDelta(
          `"index":0,"delta":{"type":"text_delta","\\u0074ext":"${other}","text":"${text}"}`,
        ),
      ({ text, other }) =>
        blockDelta(`"index":0,"delta":{"type":"text_delta","text":"${text}","text":"${other}"}`),
      ({ text, other }) =>
        blockDelta(
          `"index":0,"delta":{"type":"text_delta","thinking":"${other}","text":"${text}"}`,
        ),
      ({ text, number }) =>
        blockDelta(
          `"index":0,"delta":{"type":"text_delta","text":"${text}"},"usage":{"output_tokens":${number}}`,
        ),
      ({ text, number }) =>
        blockDelta(
          `"index":0,"delta":{"type":"text_delta","text":"${text}"},"message":{"usage":{"input_tokens":${number}}}`,
        ),
    ],
    [
      '{"type":"ping"}',
      '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"look","input":{}}}',
      '{"type":"content_block_stop","index":0}',
      '{"type":"error","error":{"type":"overloaded_error"}}',
      '{"type":"unknown","text":"a"}',
      '7',
    ],
  ),
  start: [
    '{"type":"message_start","message":{"id":"msg_up","usage":{"input_tokens":9,"output_tokens":1}}}',
    '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  ],
  end: [
    '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}',
    '{"type":"message_stop"}',
  ],
}

const item = (index: number, fields: string) =>
  `{"type":"response.output_item.added","output_index":${index},"item":{"id":"up",${fields}}}`
const textDelta = (fields: string) => `{"type":"response.output_text.delta",${fields}}`
const ENDED =
  '{"type":"response.completed","response":{"usage":{"input_tokens":9,"output_tokens":5}}}'
const ofResponses: Way = {
  format: responses,
  request: { model: 'm', input: 'Olá', stream: true },
  read: (body) => readNativeStream(body, { webSearchesMax: 0 }),
  events: eventsLike(
    [
      ({ text, number, index }) =>
        textDelta(
          `"sequence_number":${number},"item_id":"up","output_index":${index},"content_index":0,"delta":"${text}","logprobs":[]`,
        ),
      ({ text, number, other }) =>
        textDelta(
          `"sequence_number": ${number}, "output_index": 0, "delta": "${text}", "obfuscation": "${other}"`,
        ),
      ({ text, number, other }) =>
        textDelta(
          `"obfuscation":"${other}","output_index":0,"delta":"${text}","sequence_number":${number}`,
        ),
      ({ text, number }) =>
        textDelta(`"x":{"sequence_number":${number}},"output_index":0,"delta":"${text}"`),
      ({ text, number }) =>
        textDelta(
          `"sequence_number":${number},"sequence_number":7,"output_index":0,"delta":"${text}"`,
        ),
      ({ text, other }) => textDelta(`"output_index":0,"delta":"${text}","\\u0064elta":"${other}"`),
      ({ text, other }) => textDelta(`"output_index":0,"\\u0064elta":"${other}","delta":"${text}"`),
      ({ text, other }) =>
        textDelta(
          `"output_index":0,"delta":"${text}","part":{"type":"output_text","text":"${other}"}`,
        ),
      ({ text, index }) =>
        textDelta(
          `"output_index":${index},"delta":"${text}","item":{"type":"message","role":"assistant"}`,
        ),
      ({ text, index, number }) =>
        `{"type":"response.function_call_arguments.delta","sequence_number":${number},"output_index":${index},"delta":"${text}"}`,
      ({ text, number }) =>
        `{"type":"response.custom_tool_call_input.delta","sequence_number":${number},"output_index":1,"delta":"${text}"}`,
      ({ text, number }) =>
        `{"type":"response.reasoning_summary_text.delta","output_index":0,"summary_index":${number},"delta":"${text}"}`,
      ({ text }) => `{"type":"response.refusal.delta","output_index":0,"delta":"${text}"}`,
      ({ text }) => `{"type":"response.unknown.delta","output_index":0,"delta":"${text}"}`,
      ({ text, number }) =>
        `{"type":"response.output_text.done","output_index":0,"text":"${text}","sequence_number":${number}}`,
    ],
    [
      item(0, '"type":"reasoning","summary":[]'),
      item(1, '"type":"function_call","call_id":"call_1","name":"look","arguments":""'),
      item(7, '"type":"custom_tool_call","call_id":"call_2","name":"edit","input":""'),
      '{"type":"response.in_progress","response":{}}',
      '{"type":"error","code":"server_error","message":"x"}',
      ENDED,
      '[DONE]',
    ],
  ),
  start: [
    '{"type":"response.created","response":{"id":"up"}}',
    item(0, '"type":"message","content":[]'),
  ],
  end: [ENDED],
}

const WAYS: Readonly<Record<string, Way>> = {
  'chat completions': chat,
  Messages: messages,
  Responses: ofResponses,
  'Messages over chat completions': { ...chat, format: messages.format, request: messages.request },
  'Responses over chat completions': {
    ...chat,
    format: responses,
    request: ofResponses.request,
  },
}

interface Sent {
  readonly text: string
  readonly cuts: readonly number[]
  readonly outputTokensMax: number
}

/** The bytes of a stream, cut at these places. */
function partsOf(text: string, cuts: readonly number[]): Buffer[] {
  const bytes = Buffer.from(text)
  const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, at) => bytes.subarray(edges[at], end))
}

/** The same events, no two of which begin alike, in the same parts: none takes the short way. */
function spaced({ text, cuts }: Sent): { text: string; cuts: number[] } {
  let count = 0
  let spacedText = ''
  let read = 0
  const inserted: { at: number; bytes: number }[] = []
  for (const match of text.matchAll(/^data: ?\{/gm)) {
    const end = match.index + match[0].length
    count += 1
    spacedText += text.slice(read, end) + ' '.repeat(count)
    inserted.push({ at: Buffer.byteLength(text.slice(0, end)), bytes: count })
    read = end
  }
  const moved = cuts.map(
    (cut) => cut + inserted.filter(({ at }) => at < cut).reduce((sum, { bytes }) => sum + bytes, 0),
  )
  return { text: spacedText + text.slice(read), cuts: moved }
}

function readParts(way: Way, parts: readonly Buffer[]): ChatStream {
  const left = [...parts]
  return way.read({
    async each(take) {
      for (let part = left.shift(); part; part = left.shift()) {
        const result = await take(part)
        if (result !== undefined) return result
      }
      return undefined
    },
    mayThink: () => undefined,
    failure: () => undefined,
    discard: () => undefined,
    cancel: () => undefined,
    text: () => assert.fail('not read as a text'),
    beginning: () => assert.fail('not read as a text'),
    bytes: () => assert.fail('not read as a whole'),
  })
}

async function relay(way: Way, parts: readonly Buffer[], outputTokensMax: number) {
  let shown = ''
  const seen: number[] = []
  const client = {
    beginStream: () => undefined,
    hasLeft: () => false,
    write(text: string) {
      shown += text
      // Every third part is slow.
      return seen.length % 3 === 0 ? Promise.resolve() : undefined
    },
  } as Partial<Client> as Client
  const quote = { outputTokensMax, choices: 1 }
  const relayed = await relayStream(
    {
      held: { quote, epoch: 0, limits: {} } as HeldCall,
      lease: {
        nodeId: () => 'n',
        epoch: () => 0,
        isHeld: () => true,
        whenHeld: () => Promise.resolve(true),
      },
      stream: readParts(way, parts),
      writer: await createWriter(way),
      client,
      running: {
        isHoldDurable: true,
        whenDurable: () => Promise.resolve(true),
        epoch: 0,
        isDelivered: false,
        tokens: 0,
        sawOutput: (tokens) => void seen.push(tokens),
        end: () => undefined,
      },
      waitMsMax: 1_000,
    },
    false,
  )
  return { ...relayed, seen, shown: untimed(shown) }
}

async function createWriter({ format, request }: Way): Promise<ChatWriter> {
  const caller = { id: 'k', customerId: 'a customer' } as Parameters<ChatFormat['readRequest']>[1]
  const read = await format.readRequest(Buffer.from(JSON.stringify(request)), caller)
  if (isRefusal(read)) assert.fail(read.message)
  return format.createWriter({ id: 'x', modelId: 'm', request: read })
}

/** The seconds turn between two writers; calls without an id get a random one. */
function untimed(shown: string): string {
  return shown
    .replaceAll(/"created(_at)?":\d+/g, '"created":0')
    .replaceAll(/"((?:call_)?id)":"call_[\w-]{24,}"/g, '"$1":"call_x"')
}

const streams = (way: Way): fc.Arbitrary<Sent> =>
  fc
    .record({
      runs: fc.array(way.events, { maxLength: 8 }),
      hasStart: fc.boolean(),
      hasEnd: fc.boolean(),
      lineEnd: fc.constantFrom('\n', '\n', '\r\n'),
      prefix: fc.constantFrom(
        'data: ',
        'data: ',
        'event: x\ndata: ',
        ': comment\ndata:',
        '\ufeffdata: ',
      ),
      cuts: fc.array(fc.nat({ max: 8_000 }), { maxLength: 12 }),
      outputTokensMax: fc.constantFrom(4_096, 4_096, 4_096, 1),
    })
    .map(({ runs, hasStart, hasEnd, lineEnd, prefix, cuts, outputTokensMax }) => {
      const all = [hasStart ? way.start : [], runs, hasEnd ? way.end : []].flat().join('\n\n')
      const [first = '', ...lines] = all.split('\n\n').map((event) => `${prefix}${event}`)
      const text = [first, ...lines.map((line) => line.replace('\ufeff', '')), '']
        .join('\n\n')
        .replaceAll('\n', lineEnd)
      const bytes = Buffer.byteLength(text)
      return { text, cuts: cuts.map((cut) => cut % (bytes + 1)), outputTokensMax }
    })

for (const [name, way] of Object.entries(WAYS)) {
  test(`${name}: a stream is shown, counted and ended alike by the short and the long way`, async () => {
    await fc.assert(
      fc.asyncProperty(streams(way), async (sent) => {
        const long = spaced(sent)
        assert.deepEqual(
          await relay(way, partsOf(sent.text, sent.cuts), sent.outputTokensMax),
          await relay(way, partsOf(long.text, long.cuts), sent.outputTokensMax),
        )
      }),
      { numRuns: effort({ ordinary: 300, full: 8_000 }) },
    )
  })
}

test('what is shown and counted of a shape follows the events between', async () => {
  const block = (text: string, more = '') =>
    blockDelta(`"index":0,"delta":{"type":"text_delta","text":"${text}"}${more}`)
  const added = (text: string) => textDelta(`"output_index":7,"delta":"${text}"`)
  const late = item(7, '"type":"message","content":[]')
  const inProgress = '{"type":"response.in_progress","response":{}}'
  const usage = (tokens: number) => `,"usage":{"output_tokens":${tokens}}`
  const streamOf = (way: Way, events: readonly string[]) => {
    const text = [...way.start, ...events, ...way.end].map((one) => `data: ${one}\n\n`).join('')
    return { text, cuts: [], outputTokensMax: 4_096 }
  }
  const [, stop = ''] = messages.end
  for (const [way, events] of [
    [ofResponses, [added('a'), added('b'), late, added('c'), added('d')]],
    [ofResponses, [late, added('a'), added('b'), inProgress, added('c')]],
    [
      { ...messages, end: ['{"type":"message_delta","delta":{"stop_reason":"end_turn"}}', stop] },
      [
        block('a', usage(7)),
        block('b', usage(7)),
        '{"type":"message_delta","delta":{},"usage":{"output_tokens":5}}',
        block('c', usage(7)),
      ],
    ],
  ] as const) {
    const sent = streamOf(way, events)
    const short = await relay(way, partsOf(sent.text, []), 4_096)
    assert.deepEqual(short, await relay(way, partsOf(spaced(sent).text, []), 4_096))
  }
})

async function shortTexts(way: Way, events: readonly string[]): Promise<string[]> {
  const text = events.map((event) => `data: ${event}\n\n`).join('')
  const found: string[] = []
  await readParts(way, [Buffer.from(text)]).each((chunks) => {
    for (const { delta } of chunks) if (delta) found.push(delta.text)
    return undefined
  })
  return found
}

test('events of the native formats take the short way, whatever their numbers and escapes', async () => {
  const texts = ['a', ' gira', '\n', '{"a":1}', 'ção']
  const [, ...rest] = texts
  const blocks = texts.map((text) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: text },
  }))
  const added = texts.map((delta, at) => ({
    type: 'response.output_text.delta',
    sequence_number: at + 8,
    item_id: 'up',
    output_index: 0,
    content_index: 0,
    delta,
    logprobs: [],
    obfuscation: 'x'.repeat(at),
  }))
  const calls = texts.map((text) => ({
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }],
  }))
  for (const [way, events] of [
    [messages, blocks],
    [ofResponses, added],
    [chat, calls],
  ] as const) {
    const all = [...way.start, ...events.map((event) => JSON.stringify(event)), ...way.end]
    assert.deepEqual(await shortTexts(way, all), rest)
  }
})

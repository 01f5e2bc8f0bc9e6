import assert from 'node:assert/strict'
import { test } from 'node:test'
import { accumulateMessage } from '../../../../../../test/harness/accumulate-message.ts'
import { effort } from '../../../../../../test/harness/effort.ts'
import fc, { anyCharacter } from '../../../../../../test/harness/fast-check.ts'
import { StreamBroken, type JsonObject } from '../../../../providers/contract.ts'
import type { Charged } from '../../chat-format.ts'
import { createMessageStream } from './message-stream.ts'
import { wholeMessage } from './whole-message.ts'

/** Ids that are not hidden. */
const IDS = { hide: () => undefined }
/** Legible. */
const SEAL = (kept: object): string => JSON.stringify(kept)
const HEAD = { id: 'msg_1', modelId: 'a-model' }
const CHARGED: Charged = {
  promptTokens: 100,
  cachedTokens: 30,
  cacheWriteTokens: 20,
  completionTokens: 7,
  reasoningTokens: 3,
  billedNanoBrl: 1_234_567_890_123n,
}

interface Said {
  /** Signed, hidden or neither. */
  readonly thinking: readonly { text: string; signature?: string; data?: string }[]
  readonly text: string
  readonly calls: readonly { id: string; name: string; input: object }[]
}

/** Any text that is not empty, with odd characters and white space. */
const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 30 })
const signed = fc.record({ text: fc.oneof(text, fc.constant('')), signature: text })
const hidden = fc.record({ text: fc.constant(''), data: text })
const said: fc.Arbitrary<Said> = fc.record({
  thinking: fc.oneof(
    fc.array(fc.oneof(signed, hidden), { maxLength: 3 }),
    fc.tuple(fc.record({ text })),
  ),
  text: fc.oneof(text, fc.constant('')),
  calls: fc.uniqueArray(
    fc.record({
      id: fc.uuid(),
      name: text,
      input: fc
        .dictionary(text, fc.jsonValue())
        .map((one) => JSON.parse(JSON.stringify(one)) as object),
    }),
    { maxLength: 3, selector: ({ id }) => id },
  ),
})

const detailOf = ({ text, signature, data }: Said['thinking'][number]): JsonObject =>
  data === undefined
    ? { type: 'reasoning.text', text, signature }
    : { type: 'reasoning.encrypted', data }

/** As an upstream answers it at once. */
function plainBody({ thinking, text, calls }: Said, hasReasoningField = true): JsonObject {
  const message = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(hasReasoningField ? { reasoning_content: thinking.map((one) => one.text).join('') } : {}),
    reasoning_details: thinking
      .filter((one) => !hasReasoningField || (one.signature ?? one.data))
      .map(detailOf),
    tool_calls: calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    })),
  }
  const reason = calls.length > 0 ? 'tool_calls' : 'stop'
  return { choices: [{ index: 0, message, finish_reason: reason }] }
}

/** As an upstream streams it, its texts cut into pieces by `cut`. */
function deltas(
  { thinking, text, calls }: Said,
  cut: (text: string) => string[],
  hasReasoningField: boolean,
): JsonObject[] {
  return [
    ...thinking.flatMap((one): JsonObject[] => {
      const { signature, data } = one
      const pieces = cut(one.text).map((piece) =>
        hasReasoningField
          ? { reasoning_content: piece }
          : { reasoning_details: [{ type: 'reasoning.text', text: piece }] },
      )
      if (signature === undefined && data === undefined) return pieces
      // One that has streamed the text in its own field repeats it with the signature.
      const end = hasReasoningField || data !== undefined ? one : { ...one, text: '' }
      return [...pieces, { reasoning_details: [detailOf(end)] }]
    }),
    ...cut(text).map((piece) => ({ content: piece })),
    ...calls.flatMap(({ id, name, input }, index) => [
      { tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] },
      ...cut(JSON.stringify(input)).map((piece) => ({
        tool_calls: [{ index, function: { arguments: piece } }],
      })),
    ]),
  ]
}

function cutter(lengths: readonly number[]): (text: string) => string[] {
  return (text) => {
    const pieces: string[] = []
    for (let at = 0, next = 0; at < text.length; next += 1) {
      const length = lengths[next % lengths.length] as number
      pieces.push(text.slice(at, at + length))
      at += length
    }
    return pieces
  }
}

/** The text of the stream. */
function streamed(chunks: readonly JsonObject[], finishReason: string): string {
  const stream = createMessageStream(HEAD, IDS, SEAL)
  const choice = (delta: JsonObject, reason: string | null = null): JsonObject => ({
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  return [
    stream.chunk(choice({ role: 'assistant', content: '' })) ?? '',
    ...chunks.map((delta) => stream.chunk(choice(delta)) ?? ''),
    stream.chunk(choice({}, finishReason)) ?? '',
    stream.chunk({ choices: [], usage: {} }) ?? '',
    stream.end(CHARGED),
  ].join('')
}

const whole = (body: JsonObject): any => JSON.parse(wholeMessage(HEAD, IDS, SEAL, body, CHARGED))

test('a stream cut into any chunks accumulates to the message of the plain answer', () => {
  fc.assert(
    fc.property(
      said,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      fc.boolean(),
      (one, lengths, hasReasoningField) => {
        const reason = one.calls.length > 0 ? 'tool_calls' : 'stop'
        const text = streamed(deltas(one, cutter(lengths), hasReasoningField), reason)
        const { message, error } = accumulateMessage(text)
        assert.equal(error, undefined)
        assert.deepEqual(message, whole(plainBody(one, hasReasoningField)))
      },
    ),
    { numRuns: effort({ ordinary: 150, full: 500 }) },
  )
})

test('the tokens of a message are disjoint: input, cache read and cache write are the prompt', () => {
  fc.assert(
    fc.property(fc.nat(1e9), fc.nat(1e9), fc.nat(1e9), fc.nat(1e9), (fresh, read, write, out) => {
      const charged = {
        ...CHARGED,
        promptTokens: fresh + read + write,
        cachedTokens: read,
        cacheWriteTokens: write,
        completionTokens: out,
      }
      const { usage } = JSON.parse(wholeMessage(HEAD, IDS, SEAL, {}, charged))
      assert.deepEqual(usage, {
        input_tokens: fresh,
        cache_creation_input_tokens: write,
        cache_read_input_tokens: read,
        cache_creation: { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: 0 },
        output_tokens: out,
      })
    }),
  )
})

test('the cost has all nine decimals, plain and streamed', () => {
  assert.match(wholeMessage(HEAD, IDS, SEAL, {}, CHARGED), /"cost_billed_brl":1234\.567890123\}$/)
  assert.match(
    createMessageStream(HEAD, IDS, SEAL).end(CHARGED),
    /"cost_billed_brl":1234\.567890123\}\n/,
  )
})

test('an answer that calls tools stops for them, even if the upstream reports a stop', () => {
  const calls = [{ id: 'a', name: 'b', input: {} }]
  const one: Said = { thinking: [], text: 'c', calls }
  assert.equal(
    accumulateMessage(streamed(deltas(one, cutter([9]), true), 'stop')).message.stop_reason,
    'tool_use',
  )
  const body = plainBody(one)
  Object.assign((body.choices as JsonObject[])[0] as JsonObject, { finish_reason: 'stop' })
  assert.equal(whole(body).stop_reason, 'tool_use')
})

test('each finish reason has its stop reason', () => {
  const one: Said = { thinking: [], text: 'c', calls: [] }
  for (const [reason, stopReason] of Object.entries({
    stop: 'end_turn',
    length: 'max_tokens',
    content_filter: 'refusal',
    something_new: 'end_turn',
    constructor: 'end_turn',
  })) {
    const { message } = accumulateMessage(streamed(deltas(one, cutter([9]), true), reason))
    assert.equal(message.stop_reason, stopReason)
  }
})

test('calls without numbers are told apart by their ids', () => {
  const call = (id: string, args: string): JsonObject => ({
    tool_calls: [{ id, function: { name: 'f', arguments: args } }],
  })
  const { message } = accumulateMessage(streamed([call('a', '{"x":1}'), call('b', '{}')], 'stop'))
  assert.deepEqual(
    message.content.map(({ id, input }: any) => [id, input]),
    [
      ['a', { x: 1 }],
      ['b', {}],
    ],
  )
})

test('calls whose deltas alternate keep their own arguments, one block after another', () => {
  const made = fc.record({
    name: fc.stringMatching(/^[a-z]{1,8}$/),
    input: fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue()),
    pieces: fc.integer({ min: 1, max: 6 }),
  })
  fc.assert(
    fc.property(
      fc.array(made, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { maxLength: 40 }),
      (calls, turns) => {
        const texts = calls.map(({ input, pieces }) => {
          const text = JSON.stringify(input)
          const length = Math.ceil(text.length / pieces)
          return Array.from({ length: pieces }, (_, at) =>
            text.slice(at * length, (at + 1) * length),
          )
        })
        const stream = createMessageStream(HEAD, IDS, SEAL)
        let written = ''
        const send = (index: number, more: JsonObject): void => {
          const delta = { tool_calls: [{ index, ...more }] }
          written += stream.chunk({ choices: [{ index: 0, delta }] }) ?? ''
        }
        for (const [index, { name }] of calls.entries())
          send(index, { id: `call_${index}`, function: { name, arguments: '' } })
        // In any order between the calls, the rest in theirs.
        for (const turn of [...turns, ...calls.flatMap((_, at) => Array<number>(6).fill(at))]) {
          const index = turn % calls.length
          const text = texts[index]?.shift()
          if (text !== undefined) send(index, { function: { arguments: text } })
        }
        const { message } = accumulateMessage(written + stream.end(CHARGED))
        assert.deepEqual(
          message.content.map(({ name, input }: JsonObject) => ({ name, input })),
          calls.map(({ name, input }) => ({ name, input: JSON.parse(JSON.stringify(input)) })),
        )
      },
    ),
    { numRuns: 200 },
  )
})

test('a call whose arguments are whole ends when the next one begins: it is shown at once', () => {
  const stream = createMessageStream(HEAD, IDS, SEAL)
  const call = (index: number, args: string): JsonObject => ({
    choices: [
      {
        delta: {
          tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: args } }],
        },
      },
    ],
  })
  stream.chunk(call(0, '{"a":"}\\""}'))
  assert.match(stream.chunk(call(1, '{')) ?? '', /content_block_stop[^]*content_block_start/)
})

test('arguments for a call that has ended break the stream, because the client has run it', () => {
  const stream = createMessageStream(HEAD, IDS, SEAL)
  const call = (args: string, id?: string): JsonObject => ({
    choices: [
      { delta: { tool_calls: [{ index: 0, id, function: { name: 'f', arguments: args } }] } },
    ],
  })
  stream.chunk(call('{"command":"rm -r ', 'a'))
  stream.chunk({ choices: [{ delta: { content: 'Feito.' } }] })
  assert.throws(() => stream.chunk(call('build"}')), StreamBroken)
})

test('a stream without any chunk is an empty message', () => {
  const { message } = accumulateMessage(createMessageStream(HEAD, IDS, SEAL).end(CHARGED))
  assert.deepEqual(message.content, [])
})

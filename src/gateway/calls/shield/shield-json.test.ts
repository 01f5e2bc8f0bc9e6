/**
 * Random JSON with personal data in its strings, numbers and names, and JSON text within its strings, in requests of all
 * three formats: what leaves is JSON of the same structure without any of them, and what a model repeats of it, at the
 * same place or another one, plain or streamed at any cut, comes back as it was.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { accumulateMessage } from '../../../../test/harness/accumulate-message.ts'
import { effort, seedOr } from '../../../../test/harness/effort.ts'
import fc from '../../../../test/harness/fast-check.ts'
import {
  document,
  leaksOf,
  PLACEHOLDER,
  type Planted,
} from '../../../../test/harness/personal-texts.ts'
import type { JsonObject } from '../../providers/contract.ts'
import type { WholeChatFormat } from '../chat/chat-format.ts'
import { createChatCompletionsFormat } from '../chat/formats/chat-completions/chat-completions-format.ts'
import { createMessagesFormat } from '../chat/formats/messages/messages-format.ts'
import { createReasoningSeals } from '../chat/formats/responses/reasoning-seal.ts'
import { createResponsesFormat } from '../chat/formats/responses/responses-format.ts'
import { readChatRequest, type ChatRequest } from '../chat/chat-request.ts'
import { createRestoringWriter } from '../chat/chat-kind.ts'
import { createToolCallIds } from '../chat/tool-call-ids.ts'
import { isRefusal } from '../refusal.ts'
import { shieldChatRequest } from './shield-chat-request.ts'

const ids = createToolCallIds([randomBytes(32)])
const seals = createReasoningSeals({ sealingKey: randomBytes(32) })
const FORMATS: Readonly<Record<string, WholeChatFormat<any>>> = {
  chat: createChatCompletionsFormat(ids, readChatRequest),
  messages: createMessagesFormat(ids, seals),
  responses: createResponsesFormat(seals, ids),
}
const CHARGED = {
  promptTokens: 1,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 1,
  reasoningTokens: 0,
  billedNanoBrl: 1n,
}
const STAND_IN = /\b7000000000000\d\d\b/g

/** JSON text with what was planted in it. */
interface Source {
  readonly json: string
  readonly planted: readonly Planted[]
}

const CPF = ['52998224725', '11144477735', '24971563792', '29537995593'] as const
/** As programs write numbers: with decimals, an exponent, a sign. */
const numberText = fc
  .tuple(fc.constantFrom(...CPF, '11222333000181', '4111111111111111'), fc.nat(7))
  .map(([value, way]): Source => {
    const scientific = `${value[0]}.${value.slice(1)}e${way === 2 ? '' : '+'}${value.length - 1}`
    const spellings = [value, `-${value}`, scientific, scientific.toUpperCase(), `${value}.0`]
    const more = [`${value}e0`, `${value}00e-2`, `-${value}.000`]
    const json = [...spellings, ...more][way] as string
    return { json, planted: [{ kind: 'number', text: json, core: value }] }
  })
const columns = fc
  .tuple(fc.constantFrom('|', ' | ', ';', '\t', '\n', '\r\n', '\u2028', '\u2003'), fc.nat(3))
  .map(([gap, way]): Planted => {
    const [text, core] = [
      [`11${gap}98765-4321`, '11987654321'],
      [`529${gap}982${gap}247${gap}25`, '52998224725'],
      [`4111${gap}1111${gap}1111${gap}1111`, '4111111111111111'],
      [`0${CPF[1]}`, CPF[1]],
    ][/[|;]/.test(gap) ? 0 : way] as [string, string]
    return { kind: 'columns', text, core }
  })
const ordinary = fc.constantFrom('', 'João "Zé"', 'a\tb\\n', '{a"', '[x]', '😀', "it's {{x}}")

/** Each way of writing a string is JSON. */
const WAYS: readonly ((json: string) => string)[] = [
  (json) => json,
  (json) => json.replaceAll('/', String.raw`\/`),
  (json) =>
    json.replaceAll(
      /(?<!\\)[@\d\u0080-\uFFFF]/g,
      (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
]
const text = fc.oneof(
  fc.tuple(fc.oneof(document, columns), ordinary).map(([each, other]) => ({
    value: `${other}: ${each.text}`,
    planted: [each],
  })),
  ordinary.map((value) => ({ value, planted: [] as Planted[] })),
)
/** Escapes of escapes make a value longer than what comes back in the same spelling. */
const WAYS_DEEP = WAYS.slice(0, 2)
const quotedBy = (ways: typeof WAYS): fc.Arbitrary<Source> =>
  fc
    .tuple(text, fc.constantFrom(...ways))
    .map(([{ value, planted }, way]): Source => ({ json: way(JSON.stringify(value)), planted }))
const plain = fc
  .constantFrom('0', '-1.5', '12', '1e3', 'true', 'null', '[]', '{}')
  .map((json): Source => ({ json, planted: [] }))

function sourceWithin(nested: number): fc.Arbitrary<Source> {
  const quoted = quotedBy(nested < 2 ? WAYS_DEEP : WAYS)
  const { value } = fc.letrec<{ value: Source }>((tie) => {
    const list = fc.array(tie('value'), { maxLength: 3 }).map((all) => join(all, '[', ']'))
    const pair = fc
      .tuple(quoted, fc.constantFrom(':', ' : '), tie('value'))
      .map(([name, colon, each]) => join([name, each], '', '', colon))
    // Two spellings of one name would be one field.
    const object = fc.array(pair, { maxLength: 3 }).map((all) =>
      join(
        all.map(({ json, planted }, index) => ({ json: `"${index}${json.slice(1)}`, planted })),
        '{',
        '}',
        ',\n ',
      ),
    )
    const leaves = [quoted, numberText, plain]
    const inner =
      nested === 0
        ? []
        : [
            sourceWithin(nested - 1).map(({ json, planted }) => ({
              json: JSON.stringify(json),
              planted,
            })),
          ]
    return { value: fc.oneof({ depthSize: 'small' }, ...leaves, ...inner, list, object) }
  })
  return fc.array(value, { minLength: 1, maxLength: 3 }).map((all) =>
    join(
      all.map((each, index) => ({ ...each, json: `"f${index}": ${each.json}` })),
      '{',
      '}',
    ),
  )
}

function join(all: readonly Source[], before: string, after: string, between = ','): Source {
  return {
    json: before + all.map(({ json }) => json).join(between) + after,
    planted: all.flatMap(({ planted }) => planted),
  }
}

/** A document as the user's text, as arguments of a call and as its result; numbers in a schema. */
function bodyOf(format: string, json: string): JsonObject {
  const schema = {
    type: 'object',
    properties: {
      n: {
        type: 'integer',
        default: 52998224725,
        enum: [52998224725, -11144477735],
        examples: [5.2998224725e10],
        minimum: 24971563792,
      },
      c: { const: 4111111111111111 },
    },
  }
  const tool = { name: 'f', description: 'd' }
  if (format === 'messages')
    return {
      max_tokens: 5,
      tools: [{ ...tool, input_schema: schema }],
      messages: [
        { role: 'user', content: json },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'c', name: 'f', input: JSON.parse(json) }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: json }] },
      ],
    }
  if (format === 'responses')
    return {
      store: false,
      tools: [{ type: 'function', ...tool, parameters: schema }],
      input: [
        { role: 'user', content: json },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: json },
        { type: 'function_call_output', call_id: 'c', output: json },
      ],
    }
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: json } }
  return {
    seed: 52998224725,
    metadata: { json },
    tools: [{ type: 'function', function: { ...tool, parameters: schema } }],
    messages: [
      { role: 'user', content: json },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: json },
    ],
  }
}

/** Masked numbers of JSON text are strings; everything else keeps its type, also within the text of strings. */
function assertAlike(masked: unknown, original: unknown, isInText: boolean): void {
  if (isInText && typeof original === 'number' && typeof masked === 'string')
    return assert.match(masked, new RegExp(`^${PLACEHOLDER.source}$`))
  assert.equal(typeof masked, typeof original)
  if (typeof original === 'string') {
    const inner = parsed(original)
    if (typeof inner === 'object') assertAlike(parsed(masked as string), inner, true)
  } else if (typeof original === 'object' && original !== null) {
    assert.ok(typeof masked === 'object' && masked !== null)
    const [fields, others] = [Object.values(masked), Object.values(original)]
    assert.equal(fields.length, others.length)
    for (const [place, other] of others.entries()) assertAlike(fields[place], other, isInText)
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a client of the format reads of an answer: its text, and the arguments of its call. */
function answered(
  format: string,
  request: ChatRequest,
  content: string,
  args: string,
  sizes: readonly number[] | undefined,
): { readonly content: string; readonly args: unknown } {
  const writer = FORMATS[format]?.createWriter({ id: 'x', modelId: 'm', request })
  assert.ok(writer && request.placeholders)
  const restoring = createRestoringWriter(writer, request.placeholders)
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: args } }
  if (!sizes) {
    const message = { role: 'assistant', content, tool_calls: [call] }
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
    return readWhole(format, JSON.parse(restoring.answer({ choices }, CHARGED)))
  }
  let events = ''
  const chunk = (delta: object, finish_reason: string | null = null): void => {
    events += restoring.chunk({ choices: [{ index: 0, delta, finish_reason }] }) ?? ''
  }
  for (const piece of pieces(content, sizes)) chunk({ content: piece })
  const [first = '', ...rest] = pieces(args, sizes)
  chunk({ tool_calls: [{ ...call, index: 0, function: { name: 'f', arguments: first } }] })
  for (const piece of rest) chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
  chunk({}, 'tool_calls')
  return readStream(format, events + restoring.end(CHARGED))
}

function pieces(text: string, sizes: readonly number[]): string[] {
  const cut: string[] = []
  for (let index = 0, turn = 0; index < text.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number
    cut.push(text.slice(index, index + size))
    index += size
  }
  return cut
}

function readWhole(format: string, answer: any): { content: string; args: unknown } {
  if (format === 'chat') {
    const { content, tool_calls } = answer.choices[0].message
    return { content, args: JSON.parse(tool_calls[0].function.arguments) }
  }
  if (format === 'messages') {
    const [said, call] = answer.content
    return { content: said.text, args: call.input }
  }
  const [said, call] = answer.output
  return { content: said.content[0].text, args: JSON.parse(call.arguments) }
}

function readStream(format: string, text: string): { content: string; args: unknown } {
  if (format === 'messages') return readWhole(format, accumulateMessage(text).message)
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)))
  const joined = (of: (event: any) => unknown): string =>
    events
      .map(of)
      .filter((each) => typeof each === 'string')
      .join('')
  if (format === 'chat')
    return {
      content: joined(({ choices }) => choices[0]?.delta.content),
      args: JSON.parse(
        joined(({ choices }) => choices[0]?.delta.tool_calls?.[0].function.arguments),
      ),
    }
  const content = joined(({ type, delta }) => type.endsWith('output_text.delta') && delta)
  const whole = readWhole(format, events.at(-1).response)
  assert.equal(content, whole.content)
  return whole
}

const cuts = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

for (const format of Object.keys(FORMATS))
  test(`${format}: JSON with personal data anywhere leaves as JSON without, and comes back as it was`, () => {
    fc.assert(
      fc.property(sourceWithin(3), cuts, ({ json, planted }, sizes) => {
        const read = (): ChatRequest => {
          const body = Buffer.from(JSON.stringify({ model: 'm', ...bodyOf(format, json) }))
          const request = FORMATS[format]?.readRequest(body, { customerId: 'c' })
          assert.ok(request && !isRefusal(request), JSON.stringify(request))
          return request
        }
        const open = read()
        const outcome = shieldChatRequest(read(), { action: 'mask', uuids: 'near_pix' })
        assert.ok(outcome.kind === 'masked')
        const { request } = outcome
        const sent = JSON.stringify(request.body)
        assertAlike(JSON.parse(sent), JSON.parse(JSON.stringify(open.body)), false)
        assert.deepEqual(leaksOf(sent.replaceAll(STAND_IN, '0'), planted), [], sent)
        const [user, assistant] = request.body.messages as any[]
        const masked = typeof user.content === 'string' ? user.content : user.content[0].text
        const args = assistant.tool_calls[0].function.arguments as string
        const expected = { content: json, args: JSON.parse(json) }
        for (const split of [undefined, [1], sizes])
          assert.deepEqual(answered(format, request, masked, args, split), expected)
        for (const name of new Set<string>(masked.match(PLACEHOLDER))) {
          const said = (text: string): string =>
            answered(format, request, text, '{}', sizes).content
          const value = said(`${name}.`).slice(0, -1)
          assert.ok(
            planted.some(({ text }) => text.includes(value)),
            value,
          )
          let nested = `: ${name}`
          for (let depth = 1; depth <= 3; depth += 1) {
            nested = JSON.stringify({ [name]: [nested] })
            let held: any = said(`Segue: ${nested}!`).slice('Segue: '.length, -1)
            for (let level = depth; level > 0; level -= 1)
              [[held]] = Object.values<any>(JSON.parse(held)) as [any]
            assert.equal(held, `: ${value}`)
          }
        }
      }),
      { numRuns: effort({ ordinary: 60, full: 5_000 }), seed: seedOr(3911) },
    )
  })

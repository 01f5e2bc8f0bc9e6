/**
 * One conversation as clients write it in each format, and as upstreams of each format read it: the reverse of the
 * translations, written from the formats' own references and not from the code.
 */
import assert from 'node:assert/strict'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import fc, { anyCharacter } from '../harness/fast-check.ts'

export const CLIENTS = ['chat', 'messages', 'responses', 'gemini'] as const
export type Client = (typeof CLIENTS)[number]

/** A text, an image as a data URL, or a document with its name and a data URL. */
export type Piece =
  | { readonly text: string }
  | { readonly image: string }
  | { readonly file: string; readonly data: string }

/** Signed, hidden from the client, or neither. */
export interface Thought {
  readonly text: string
  readonly signature?: string
  readonly data?: string
}

export interface Call {
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  /** Of a chat's upstream that signs calls, as Gemini's. */
  readonly signature?: string
  /** At least one text first, then images, if the client's format has any in results. */
  readonly result: readonly Piece[]
  /** The tool has failed. */
  readonly isError: boolean
}

export interface Answer {
  readonly thinking: readonly Thought[]
  readonly said: readonly string[]
  readonly calls: readonly Call[]
}

export interface Conversation {
  readonly instructions: readonly string[]
  readonly turns: readonly { readonly asked: readonly Piece[]; readonly answer: Answer }[]
  readonly last: string
}

/** One part of a conversation: who says what, in its order. */
export type Entry = readonly [who: string, ...what: unknown[]]

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

/** With something in it that is not white space, and odd characters. */
export const text = fc
  .string({ unit: anyCharacter, minLength: 1, maxLength: 20 })
  .filter((one) => one.trim() !== '')
const image = fc.constantFrom('', 'AAAA').map((more) => `data:image/png;base64,${PNG}${more}`)
/** As names of files are: adapters of some upstreams shorten others. */
const fileName = fc.stringMatching(/^[a-z0-9][a-z0-9 -]{0,12}\.pdf$/)
const document = fc.record({
  file: fileName,
  data: fc
    .stringMatching(/^[A-Za-z0-9+/]{4}$/)
    .map((more) => `data:application/pdf;base64,JVBE${more}`),
})
const piece: fc.Arbitrary<Piece> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ text }) },
  { weight: 2, arbitrary: fc.record({ image }) },
  { weight: 1, arbitrary: document },
)
/** As providers write them. */
export const opaque = fc.stringMatching(/^[A-Za-z0-9+/]{4,40}={0,2}$/)
export const thought: fc.Arbitrary<Thought> = fc.oneof(
  fc.record({ text, signature: opaque }),
  fc.record({ text: fc.constant(''), data: opaque }),
)
const id = fc.oneof(
  fc.stringMatching(/^toolu_[A-Za-z0-9]{22}$/),
  fc.stringMatching(/^call_[A-Za-z0-9]{24}$/),
  fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
)
/** The AI SDK looks names up in an object, and finds those that every object has. */
const name = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/).filter((one) => !(one in {}))
const input = fc
  .dictionary(text, fc.jsonValue())
  // As it comes of JSON.
  .map((one) => JSON.parse(JSON.stringify(one)) as JsonObject)
const result = fc
  .tuple(text, fc.array(text, { maxLength: 1 }), fc.array(image, { maxLength: 1 }))
  .map(([first, texts, images]): Piece[] => [
    ...[first, ...texts].map((one) => ({ text: one })),
    ...images.map((one) => ({ image: one })),
  ])
const call = fc.record({ id, name, input, result, isError: fc.boolean() })
const question = fc.array(piece, { minLength: 1, maxLength: 3 })

export const answer: fc.Arbitrary<Answer> = fc
  .record({
    thinking: fc.array(thought, { maxLength: 2 }),
    said: fc.array(text, { maxLength: 2 }),
    calls: fc.uniqueArray(call, { maxLength: 3, selector: (one) => one.id }),
    spare: text,
  })
  .map(({ spare, said, ...one }) => ({
    ...one,
    // An answer has something beside its thinking.
    said: said.length + one.calls.length > 0 ? said : [spare],
  }))

export const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    instructions: fc.array(text, { maxLength: 2 }),
    turns: fc.array(fc.record({ asked: question, answer }), { minLength: 1, maxLength: 3 }),
    last: text,
  })
  .map((one) => withOwnIds(one))

/** An id is the call's own in the whole conversation. */
function withOwnIds({ turns, ...one }: Conversation): Conversation {
  const numbered = turns.map(({ asked, answer: { calls, ...rest } }, turn) => ({
    asked,
    answer: { ...rest, calls: calls.map((each) => ({ ...each, id: `${each.id}${turn}` })) },
  }))
  return { ...one, turns: numbered }
}

/** What a conversation says, in its order. The images of results follow all results of their turn. */
export function entriesOf({ instructions, turns, last }: Conversation): Entry[] {
  return [
    ...instructions.map((one): Entry => ['system', one]),
    ...turns.flatMap(({ asked, answer }) => [
      ...asked.map(ofUser),
      ...entriesOfAnswer(answer),
      ...resultsOf(answer.calls),
    ]),
    ['user', last],
  ]
}

export function entriesOfAnswer({ thinking, said, calls }: Answer): Entry[] {
  return [
    ...thinking.map(ofThought),
    ...said.map((one): Entry => ['assistant', one]),
    ...calls.map(({ id, name, input, signature }): Entry => ['call', id, name, input, signature]),
  ]
}

export function resultsOf(calls: readonly Call[]): Entry[] {
  const images = calls.flatMap(({ result }) => result.filter((one) => 'image' in one))
  return [
    ...calls.map(({ id, result, isError }): Entry => ['result', id, textsOf(result), isError]),
    ...images.map(ofUser),
  ]
}

const textsOf = (pieces: readonly Piece[]): string[] =>
  pieces.flatMap((one) => ('text' in one ? [one.text] : []))

function ofUser(one: Piece): Entry {
  if ('text' in one) return ['user', one.text]
  return 'image' in one ? ['image', one.image] : ['file', one.file, one.data]
}

function ofThought({ text: said, signature, data }: Thought): Entry {
  return data === undefined ? ['thinking', said, signature] : ['hidden', data]
}

/** Seals reasoning for a client of Responses, which has no field for signatures. */
export type Seal = (fields: JsonObject) => string

/** How ids and signatures reach the client. */
export interface Marks {
  readonly hidden: (id: string) => string
  readonly seal: Seal
}

/** The request of a client, which has had the answers of the turns from this service. */
export function requestOf(
  client: Client,
  { instructions, turns, last }: Conversation,
  marks: Marks,
): JsonObject {
  const turnsIn = turns.map(({ asked, answer }) => ({
    asked,
    said: answerIn(client, answer, marks),
    calls: answer.calls,
  }))
  return assemble(client, instructions, turnsIn, last, marks)
}

/** What a client of this format keeps of an answer: a message's fields, its blocks, or the items of a response. */
export type Kept = readonly JsonObject[]

export function assemble(
  client: Client,
  instructions: readonly string[],
  turns: readonly { asked: readonly Piece[]; said: Kept; calls: readonly Call[] }[],
  last: string,
  { hidden }: Pick<Marks, 'hidden'>,
): JsonObject {
  const [first, ...others] = instructions
  switch (client) {
    case 'chat':
      return {
        messages: [
          ...instructions.map((content, at) => ({
            role: at > 0 ? 'developer' : 'system',
            content,
          })),
          ...turns.flatMap(({ asked, said, calls }) => [
            { role: 'user', content: asked.map(chatPart) },
            ...said,
            ...calls.map(({ id, result }) => ({
              role: 'tool',
              tool_call_id: hidden(id),
              content: textsOf(result).map((one) => ({ type: 'text', text: one })),
            })),
            ...imagesOf(calls).map((one) => ({ role: 'user', content: [chatPart(one)] })),
          ]),
          { role: 'user', content: last },
        ],
      }
    case 'messages': {
      const messages: JsonObject[] = []
      let results: JsonObject[] = []
      for (const { asked, said, calls } of turns) {
        messages.push({ role: 'user', content: [...results, ...asked.map(block)] })
        messages.push({ role: 'assistant', content: said })
        results = calls.map(({ id, result, isError }) => ({
          type: 'tool_result',
          tool_use_id: hidden(id),
          content: result.map(block),
          ...(isError ? { is_error: true } : {}),
        }))
      }
      messages.push({ role: 'user', content: [...results, { type: 'text', text: last }] })
      const system = instructions.map((one) => ({ type: 'text', text: one }))
      return { max_tokens: 100, ...(system.length > 0 ? { system } : {}), messages }
    }
    case 'responses':
      return {
        ...(first === undefined ? {} : { instructions: first }),
        input: [
          ...others.map((content) => ({ role: 'developer', content })),
          ...turns.flatMap(({ asked, said, calls }) => [
            { type: 'message', role: 'user', content: asked.map(inputPart) },
            ...said,
            ...calls.map(({ id, result }) => ({
              type: 'function_call_output',
              call_id: hidden(id),
              output: result.map(inputPart),
            })),
          ]),
          { role: 'user', content: last },
        ],
      }
    case 'gemini': {
      const parts = instructions.map((one) => ({ text: one }))
      return {
        ...(parts.length > 0 ? { systemInstruction: { parts } } : {}),
        contents: [
          ...turns.flatMap(({ asked, said, calls }) => [
            { role: 'user', parts: asked.map(geminiPart) },
            { role: 'model', parts: said },
            ...(calls.length > 0
              ? [{ role: 'user', parts: calls.map((one) => functionResponse(one, hidden)) }]
              : []),
          ]),
          { role: 'user', parts: [{ text: last }] },
        ],
      }
    }
  }
}

export function functionResponse(one: Call, shown: Marks['hidden']): JsonObject {
  const { id, name, result } = one
  const parts = imagesOf([one]).map(geminiPart)
  const response = { output: textsOf(result).join('\n') }
  return {
    functionResponse: { id: shown(id), name, response, ...(parts.length > 0 ? { parts } : {}) },
  }
}

const imagesOf = (calls: readonly Call[]): Piece[] =>
  calls.flatMap(({ result }) => result.filter((one) => 'image' in one))

export function answerIn(client: Client, { thinking, said, calls }: Answer, marks: Marks): Kept {
  switch (client) {
    case 'chat':
      return [
        {
          role: 'assistant',
          content: said.length > 0 ? said.map((one) => ({ type: 'text', text: one })) : null,
          ...(thinking.length > 0 ? { reasoning_details: thinking.map(detail) } : {}),
          ...(calls.length > 0
            ? { tool_calls: calls.map((one) => toolCall(one, marks.hidden)) }
            : {}),
        },
      ]
    case 'messages':
      return [
        ...thinking.map(({ text: thought, signature, data }) =>
          data === undefined
            ? { type: 'thinking', thinking: thought, signature }
            : { type: 'redacted_thinking', data },
        ),
        ...said.map((one) => ({ type: 'text', text: one })),
        ...calls.map(({ id, name, input }) => ({
          type: 'tool_use',
          id: marks.hidden(id),
          name,
          input,
        })),
      ]
    case 'responses':
      return [
        ...thinking.map((one, at) => ({
          type: 'reasoning',
          id: `rs_${at}`,
          summary: one.text === '' ? [] : [{ type: 'summary_text', text: one.text }],
          encrypted_content: marks.seal({ reasoning_details: [detail(one)] }),
        })),
        ...said.map((one, at) => ({
          type: 'message',
          id: `msg_${at}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: one, annotations: [] }],
        })),
        ...calls.map(({ id, name, input }, at) => ({
          type: 'function_call',
          id: `fc_${at}`,
          call_id: marks.hidden(id),
          name,
          arguments: JSON.stringify(input),
        })),
      ]
    case 'gemini': {
      const made = calls.map(({ id, name, input }) => ({
        functionCall: { id: marks.hidden(id), name, args: input },
      }))
      const [first = { text: '' }, ...others] = made
      const sealed = marks.seal({ reasoning_details: thinking.map(detail) })
      const signature = Buffer.from(sealed, 'base64url').toString('base64')
      const signed = thinking.length > 0 ? { ...first, thoughtSignature: signature } : first
      return [...said.map((one) => ({ text: one })), signed, ...others]
    }
  }
}

export function detail({ text: said, signature, data }: Thought): JsonObject {
  return data === undefined
    ? { type: 'reasoning.text', text: said, signature }
    : { type: 'reasoning.encrypted', data }
}

export function toolCall({ id, name, input, signature }: Call, shown: Marks['hidden']): JsonObject {
  return {
    id: shown(id),
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
    ...(signature === undefined
      ? {}
      : { extra_content: { google: { thought_signature: signature } } }),
  }
}

function chatPart(one: Piece): JsonObject {
  if ('text' in one) return { type: 'text', text: one.text }
  return 'image' in one
    ? { type: 'image_url', image_url: { url: one.image } }
    : { type: 'file', file: { filename: one.file, file_data: one.data } }
}

function inputPart(one: Piece): JsonObject {
  if ('text' in one) return { type: 'input_text', text: one.text }
  return 'image' in one
    ? { type: 'input_image', image_url: one.image }
    : { type: 'input_file', filename: one.file, file_data: one.data }
}

function geminiPart(one: Piece): JsonObject {
  if ('text' in one) return { text: one.text }
  const [mimeType, data] = bytesOf(one)
  const displayName = 'image' in one ? {} : { displayName: one.file }
  return { inlineData: { mimeType, data, ...displayName } }
}

function bytesOf(one: Exclude<Piece, { text: string }>): (string | undefined)[] {
  return /^data:(.*);base64,(.*)$/.exec('image' in one ? one.image : one.data)?.slice(1) ?? []
}

function block(one: Piece): JsonObject {
  if ('text' in one) return { type: 'text', text: one.text }
  const [mediaType, data] = bytesOf(one)
  const source = { type: 'base64', media_type: mediaType, data }
  return 'image' in one ? { type: 'image', source } : { type: 'document', title: one.file, source }
}

/** What an upstream reads in the body of a request, by the path to which it was sent. */
export function readEntries(path: string, body: any): Entry[] {
  if (path.endsWith('/chat/completions')) return readChat(body.messages)
  if (path.endsWith('/messages')) return readMessages(body)
  assert.match(path, /\/responses$/)
  return readResponses(body)
}

export function readChat(messages: readonly any[]): Entry[] {
  return messages.flatMap((message): Entry[] => {
    const { role, content } = message
    const parts: any[] =
      typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text as string] : []))
    if (role === 'system' || role === 'developer') return texts.map((one) => ['system', one])
    // This format cannot say that a tool has failed.
    if (role === 'tool') return [['result', message.tool_call_id, texts, false]]
    if (role === 'user')
      return parts.map((part) => {
        if (part.type === 'text') return ['user', part.text]
        return part.type === 'file'
          ? ['file', part.file.filename, part.file.file_data]
          : ['image', part.image_url.url]
      })
    assert.equal(role, 'assistant')
    return [
      ...(message.reasoning_details ?? []).map((one: any) =>
        one.type === 'reasoning.text'
          ? ['thinking', one.text, one.signature]
          : ['hidden', one.data],
      ),
      ...(typeof message.reasoning_content === 'string' && message.reasoning_content !== ''
        ? [['thinking', message.reasoning_content, undefined]]
        : []),
      // Clients that put a stream together begin with an empty text.
      ...texts.filter((one) => one !== '').map((one) => ['assistant', one]),
      ...(message.tool_calls ?? []).map((one: any) => [
        'call',
        one.id,
        one.function.name,
        JSON.parse(one.function.arguments),
        one.extra_content?.google.thought_signature,
      ]),
    ]
  })
}

function readMessages({ system, messages }: any): Entry[] {
  const instructions = typeof system === 'string' ? [{ text: system }] : (system ?? [])
  return [
    ...instructions.map((one: any): Entry => ['system', one.text]),
    ...messages.flatMap(({ role, content }: any): Entry[] => {
      const blocks: any[] =
        typeof content === 'string' ? [{ type: 'text', text: content }] : content
      const results = blocks.filter(({ type }) => type === 'tool_result')
      if (role === 'user')
        return [
          ...results.map((one): Entry => [
            'result',
            one.tool_use_id,
            textsIn(one.content),
            one.is_error === true,
          ]),
          ...results.flatMap((one) => imagesIn(one.content)),
          ...blocks.filter((one) => !results.includes(one)).map(readBlock),
        ]
      return blocks.map((one): Entry => {
        if (one.type === 'thinking') return ['thinking', one.thinking, one.signature]
        if (one.type === 'redacted_thinking') return ['hidden', one.data]
        if (one.type === 'tool_use') return ['call', one.id, one.name, one.input, undefined]
        assert.equal(one.type, 'text')
        return ['assistant', one.text]
      })
    }),
  ]
}

function readBlock(one: any): Entry {
  if (one.type === 'text') return ['user', one.text]
  const data = `data:${one.source.media_type};base64,${one.source.data}`
  if (one.type === 'document') return ['file', one.title, data]
  assert.equal(one.type, 'image')
  return ['image', data]
}

function textsIn(content: any): string[] {
  if (typeof content === 'string') return [content]
  return content.flatMap((one: any) => (one.type === 'text' ? [one.text] : []))
}

function imagesIn(content: any): Entry[] {
  if (typeof content === 'string') return []
  return content.filter(({ type }: any) => type === 'image').map(readBlock)
}

function readResponses({ instructions, input }: any): Entry[] {
  const entries: Entry[] = instructions === undefined ? [] : [['system', instructions]]
  let images: Entry[] = []
  for (const item of input) {
    if (item.type !== 'function_call_output') entries.push(...images.splice(0))
    switch (item.type) {
      case 'message':
        entries.push(...readItem(item))
        break
      case 'reasoning':
        entries.push([
          'thinking',
          item.summary.map((one: any) => one.text).join(''),
          item.encrypted_content,
        ])
        break
      case 'function_call':
        entries.push(['call', item.call_id, item.name, JSON.parse(item.arguments), undefined])
        break
      default: {
        assert.equal(item.type, 'function_call_output')
        const parts = readItem({ role: 'user', content: item.output })
        const texts = parts.filter(([who]) => who === 'user').map(([, said]) => said)
        entries.push(['result', item.call_id, texts, false])
        images = [...images, ...parts.filter(([who]) => who === 'image')]
      }
    }
  }
  return entries
}

function readItem({ role, content }: any): Entry[] {
  const who = role === 'developer' ? 'system' : role
  const parts: any[] =
    typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
  return parts.map((part) => {
    if (part.type === 'input_file') return ['file', part.filename, part.file_data]
    return part.type === 'input_image' ? ['image', part.image_url] : [who, part.text]
  })
}

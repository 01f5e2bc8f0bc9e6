import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import type { ChatRequest } from './chat-request.ts'

/**
 * The fields of native bodies whose texts are those of the messages. The same characters elsewhere, as in
 * `encrypted_content`, are no text, and may cost more.
 */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'content',
  'input',
  'instructions',
  'output',
  'system',
  'text',
])
/** Not an empty text, which an adapter may leave out together with the message around it. */
const PLACEHOLDER = '.'

/**
 * Returns the text contents of messages. A translated body contains each of them unchanged; a native one may leave some
 * out.
 */
export function promptTexts(messages: readonly JsonObject[]): string[] {
  const texts: string[] = []
  mapTexts(messages, (text) => {
    texts.push(text)
    return text
  })
  return texts
}

/**
 * Returns the request with a placeholder for each of its `promptTexts`. A native body loses a text as often as the
 * messages have it.
 */
export function withoutTexts(request: ChatRequest): ChatRequest {
  const left = new Map<string, number>()
  const messages = mapTexts(request.messages, (text) => {
    left.set(text, (left.get(text) ?? 0) + 1)
    return PLACEHOLDER
  })
  const { native } = request
  return {
    ...request,
    messages,
    body: { ...request.body, messages },
    ...(native ? { native: { ...native, body: without(native.body, left) as JsonObject } } : {}),
    memo: {},
  }
}

function mapTexts(
  messages: readonly JsonObject[],
  replace: (text: string) => string,
): JsonObject[] {
  return messages.map((message) => {
    const { content } = message
    if (typeof content === 'string') return { ...message, content: replace(content) }
    if (!Array.isArray(content)) return message
    return {
      ...message,
      content: (content as JsonObject[]).map((part) =>
        part.type === 'text' && typeof part.text === 'string'
          ? { ...part, text: replace(part.text) }
          : part,
      ),
    }
  })
}

/** `field`: the field that has the value, or its list. */
function without(value: unknown, left: Map<string, number>, field = ''): unknown {
  if (typeof value === 'string') {
    const times = TEXT_FIELDS.has(field) ? (left.get(value) ?? 0) : 0
    if (times === 0) return value
    left.set(value, times - 1)
    return PLACEHOLDER
  }
  if (Array.isArray(value)) return value.map((one) => without(one, left, field))
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, without(one, left, name)]),
  )
}

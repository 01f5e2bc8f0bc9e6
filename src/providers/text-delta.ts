/**
 * Events of a stream that only add text. Almost every event is, byte for byte, the one before it with another text in
 * one field of its delta; such an event need not be parsed, nor written as JSON again.
 */
import { isObject } from '../lib/is-object.ts'
import type { DeltaShape, JsonObject, TextDelta } from './contract.ts'

/** The fields of a message or delta with generated text. */
export const TEXT_FIELDS = ['content', 'refusal', 'reasoning_content', 'reasoning'] as const

export interface DeltaReader {
  /** The text of an event that equals the last one that was recorded; undefined if it is any other event. */
  read(data: string): TextDelta | undefined
  /** Records the shape of an event, if it has no other content than the text of one field. */
  record(data: string, body: JsonObject): void
}

/** Characters that cannot stand for themselves in JSON; all others are written as they are. */
// oxlint-disable-next-line no-control-regex
const ESCAPED = /["\\\u0000-\u001f]/
/**
 * Some upstreams vary another field in every event (OpenAI's `obfuscation`): after so many shapes of which no second event
 * came, no further one is recorded, because recording parses the event again.
 */
const UNUSED_SHAPES_MAX = 8
/** Another text than any in an event, to see which field a text is in. */
const PROBE = 'catraca probe'

export function createDeltaReader(): DeltaReader {
  let like: DeltaShape | undefined
  let head = ''
  let tail = ''
  let unusedShapes = 0
  return {
    read(data) {
      if (!like || data.length <= head.length + tail.length) return undefined
      if (!data.startsWith(head) || !data.endsWith(tail)) return undefined
      const text = data.slice(head.length, data.length - tail.length)
      if (ESCAPED.test(text)) return undefined
      unusedShapes = 0
      return { like, text }
    },
    record(data, body) {
      if (unusedShapes >= UNUSED_SHAPES_MAX) return
      const field = textFieldOf(body)
      if (field === undefined) return
      const name = `"${field}":`
      const at = data.indexOf(name)
      // The name occurs once, so it is not inside of a text, where its quotation marks would be escaped.
      if (at < 0 || data.includes(name, at + 1)) return
      const start = data.indexOf('"', at + name.length) + 1
      if (start === 0 || data.slice(at + name.length, start - 1).trim() !== '') return
      const end = data.indexOf('"', start)
      if (end < 0 || ESCAPED.test(data.slice(start, end))) return
      const [before, after] = [data.slice(0, start), data.slice(end)]
      const probed = JSON.parse(`${before}${PROBE}${after}`) as JsonObject
      if (textFieldOf(probed) !== field || deltaOf(probed)?.[field] !== PROBE) return
      unusedShapes += 1
      head = before
      tail = after
      like = { bodyWith: (text) => withText(probed, field, text) }
    },
  }
}

/** The field of the only text of an event that has no other content; undefined if there is another one. */
function textFieldOf(body: JsonObject): (typeof TEXT_FIELDS)[number] | undefined {
  if (body.usage || body.error || body.object === 'error') return undefined
  const delta = deltaOf(body)
  if (!delta) return undefined
  let found: (typeof TEXT_FIELDS)[number] | undefined
  for (const name in delta) {
    const value = delta[name]
    if (value === null || value === '' || name === 'role') continue
    const field = TEXT_FIELDS.find((one) => one === name)
    if (field === undefined || found !== undefined || typeof value !== 'string') return undefined
    found = field
  }
  return found
}

/** The delta of the only choice, if that choice does not end. */
function deltaOf({ choices }: JsonObject): JsonObject | undefined {
  if (!Array.isArray(choices) || choices.length !== 1) return undefined
  const [choice] = choices as unknown[]
  if (!isObject(choice) || choice.finish_reason || choice.logprobs) return undefined
  return isObject(choice.delta) ? choice.delta : undefined
}

/** A copy, because its readers may change it. */
function withText(body: JsonObject, field: string, text: string): JsonObject {
  const [choice] = body.choices as [JsonObject]
  return {
    ...body,
    choices: [{ ...choice, delta: { ...(choice.delta as JsonObject), [field]: text } }],
  }
}

import { findPersonalData } from './find-personal-data.ts'
import type { Found } from './found.ts'
import type { Counts, DataKind, FindOptions } from '../../customers/shield-setting.ts'
import { mapAllTexts, mapMessageTexts, type Mapping, type MapText } from './map-chat-texts.ts'
import {
  chooseTag,
  createPlaceholders,
  type Placeholders,
  inJsonStrings,
  type Encoding,
  type Spelling,
} from './placeholders.ts'
import { restoreText } from './restore-text.ts'
import { isJsonNumber } from './json-place.ts'

/**
 * The longest address has 318 characters. Invisible ones and escapes may make a value as long as a request; a longer
 * spelling than this comes back plain, because a few tokens bring it back as often as the model repeats its placeholder.
 */
const SPELLING_MAX = 512

/**
 * Replaces the values, which are in order and without overlaps, by their placeholders. A number of JSON becomes a
 * string of JSON.
 */
export function maskText(
  text: string,
  found: readonly Found[],
  placeholders: Placeholders,
  encoding: Encoding,
): string {
  let masked = ''
  let done = 0
  for (const each of encoding === 'json' ? aloneOr(text, found) : found) {
    const source = text.slice(each.start, each.end)
    const quote = each.isNumber === true ? inJsonStrings('"', each.depth ?? 0) : ''
    const name = placeholders.nameOf(each, spellingOf(source, each))
    masked += text.slice(done, each.start) + quote + name + quote
    done = each.end
  }
  return masked + text.slice(done)
}

/** JSON text may be a number alone. */
function aloneOr(text: string, found: readonly Found[]): readonly Found[] {
  const [first] = found
  if (first === undefined || !isJsonNumber(text)) return found
  return [{ ...first, start: 0, end: text.length, isNumber: true }]
}

function spellingOf(source: string, { canonical, depth = 0, isNumber = false }: Found): Spelling {
  if (source.length > SPELLING_MAX)
    return { source: canonical, value: canonical, depth: 0, isNumber }
  let value = source
  let level = 0
  try {
    // A tab in a string ends it: this was none, but text that looked like its beginning.
    for (; level < depth; level += 1) value = JSON.parse(`"${value}"`) as string
  } catch {
    // The value of the levels that could be read.
  }
  // Without escapes it is the same at any depth, and has one placeholder.
  return { source, value, depth: value === source ? 0 : level, isNumber }
}

export interface ShieldOptions extends FindOptions {
  readonly action: 'mask' | 'block'
  /** Finds the data of a text in place of `findPersonalData`: of a long text, it may be known already. */
  readonly find?: (text: string) => readonly Found[]
}

/**
 * The most characters of all texts of a request: about half a million tokens. The readers need up to 0.6 s for a
 * million characters of numbers on a busy machine.
 */
export const SHIELDED_CHARACTERS_MAX = 2 * 1024 * 1024
/**
 * The most values that a request may have masked, with repetitions. To name one takes some 15 µs, most of them for the
 * memory, and nothing else runs meanwhile.
 */
export const MASKED_VALUES_MAX = 20_000

export type ShieldOutcome =
  /** Nothing was found: the request goes as it is. */
  | { readonly kind: 'clear' }
  | {
      readonly kind: 'masked'
      /** Shares with the request all that has nothing to mask. The request itself is unchanged. */
      readonly body: ChatBody
      /** Occurrences, also of the same value. */
      readonly counts: Counts
      readonly placeholders: Placeholders
      /** UTF-8 bytes that the placeholders added to the texts; negative if they are shorter. */
      readonly bytesAdded: number
    }
  | {
      readonly kind: 'blocked'
      readonly counts: Counts
      /** `messages[2]`, `tools` and the like, without repetitions. None of them contains a value. */
      readonly places: readonly string[]
    }
  /** The texts have more than `SHIELDED_CHARACTERS_MAX`, or values to mask than `MASKED_VALUES_MAX`. */
  | { readonly kind: 'too_long' }

export interface ChatBody {
  readonly [field: string]: unknown
}

/** A smaller number is no document. */
const NUMBER_MIN = 10_000_000
/** A field that the client made up could contain a value in its name. */
const PLACE = /^(?:messages\[\d+\]|[a-z_]+)$/
/** These name a model, and reach the provider only as a route's own name. */
const NOT_SENT: ReadonlySet<string> = new Set(['model', 'models'])

/**
 * Masks or reports the personal data of a chat in the chat-completions shape: messages, tools, and every other text
 * of the request, and names of fields in tools and schemas. Ids, files and the addresses of images are not read.
 */
export function shieldChat(body: ChatBody, options: ShieldOptions): ShieldOutcome {
  const texts = new Set<string>()
  const findings = new Map<string, readonly Found[]>()
  const places = new Set<string>()
  const counts: Partial<Record<DataKind, number>> = {}
  let characters = 0
  const { find = (text) => findPersonalData(text, options) } = options
  const read = (text: string, path: string): void => {
    characters += text.length
    if (characters > SHIELDED_CHARACTERS_MAX) return
    const found = findings.get(text) ?? find(text)
    texts.add(text)
    if (found.length === 0) return
    findings.set(text, found)
    places.add(PLACE.test(path) ? path : 'request')
    for (const { kind } of found) counts[kind] = (counts[kind] ?? 0) + 1
  }
  mapBody(body, (path) => ({
    text(text) {
      read(text, path)
      return text
    },
    number(value) {
      if (Math.abs(value) >= NUMBER_MIN) read(String(value), path)
      return value
    },
  }))
  if (characters > SHIELDED_CHARACTERS_MAX) return { kind: 'too_long' }
  if (findings.size === 0) return { kind: 'clear' }
  if (options.action === 'block') return { kind: 'blocked', counts, places: [...places] }
  if (sumOf(counts) > MASKED_VALUES_MAX) return { kind: 'too_long' }

  const placeholders = createPlaceholders(chooseTag(texts))
  let bytesAdded = 0
  const add = (before: string, after: string): void => {
    bytesAdded += Buffer.byteLength(after) - Buffer.byteLength(before)
  }
  const masked = mapBody(body, () => ({
    text(text, encoding) {
      const found = findings.get(text)
      if (found === undefined) return text
      const replaced = maskText(text, found, placeholders, encoding)
      add(text, replaced)
      return replaced
    },
    number(value) {
      if (Math.abs(value) < NUMBER_MIN || !findings.has(String(value))) return value
      const number = placeholders.numberFor(value)
      add(String(value), String(number))
      return number
    },
  }))
  return { kind: 'masked', body: masked, counts, placeholders, bytesAdded }
}

export function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** Puts the values back into a whole answer; returns the same object if it has none of them. */
export function restoreChat(answer: ChatBody, placeholders: Placeholders): ChatBody {
  const text: MapText = (masked, encoding) => restoreText(masked, placeholders, encoding)
  return mapMessageTexts(answer, { text }) as ChatBody
}

/**
 * Messages come last: values of tools and settings, which no turn of a conversation changes, keep their numbers.
 */
function mapBody(body: ChatBody, mapAt: (path: string) => Mapping): ChatBody {
  const changed = new Map<string, unknown>()
  for (const [field, value] of Object.entries(body)) {
    if (field === 'messages' || NOT_SENT.has(field)) continue
    const mapped = mapAllTexts(value, mapAt(field))
    if (mapped !== value) changed.set(field, mapped)
  }
  const messages = mapMessages(body.messages, mapAt)
  if (messages !== body.messages) changed.set('messages', messages)
  if (changed.size === 0) return body
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [
      field,
      changed.has(field) ? changed.get(field) : value,
    ]),
  )
}

function mapMessages(messages: unknown, mapAt: (path: string) => Mapping): unknown {
  if (!Array.isArray(messages)) return messages
  let copy: unknown[] | undefined
  for (let index = 0; index < messages.length; index += 1) {
    const mapped = mapMessageTexts(messages[index], mapAt(`messages[${index}]`))
    if (mapped === messages[index]) continue
    copy ??= [...(messages as unknown[])]
    copy[index] = mapped
  }
  return copy ?? messages
}

/** The most that a JSON text may contain before it is parsed. */
export interface JsonBounds {
  /** Nested objects and lists. */
  readonly depthMax: number
  /** Objects, lists and fields: each costs some hundred nanoseconds and some hundred bytes when it is parsed. */
  readonly structuresMax: number
  /** Entries of objects and lists. */
  readonly entriesMax: number
}

/**
 * The bounds of a request's body. Ten times as much as the longest chats of clients have. With these bounds, the time to
 * read a body follows its bytes: about ten milliseconds for each megabyte. The depth is far below the one at which
 * serializing the JSON again overflows the stack.
 */
export const BODY_BOUNDS: JsonBounds = {
  depthMax: 200,
  structuresMax: 100_000,
  entriesMax: 500_000,
}

export type JsonExcess = 'depth' | 'size'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_LIST = 0x5b
const BACKSLASH = 0x5c
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The length of a text from which the search for its end by the platform is faster than our own. */
const LONG_TEXT_BYTES = 64

/**
 * Finds the first bound that a JSON text exceeds, in one pass and without memory of its own. Parsing takes time by the
 * number of values, up to 200 times as long as by the number of bytes. A text that is not JSON gives any result: it is
 * for the parser to refuse.
 */
export function findJsonExcess(text: Buffer, bounds: JsonBounds): JsonExcess | undefined {
  const { depthMax, structuresMax, entriesMax } = bounds
  let depth = 0
  let structures = 0
  let entries = 0
  for (let at = 0; at < text.length; at += 1) {
    switch (text[at]) {
      case QUOTE:
        at = endOfText(text, at)
        break
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1
        structures += 1
        if (depth > depthMax) return 'depth'
        if (structures > structuresMax) return 'size'
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        depth -= 1
        break
      case COLON:
        structures += 1
        if (structures > structuresMax) return 'size'
        break
      case COMMA:
        entries += 1
        if (entries > entriesMax) return 'size'
        break
    }
  }
  return undefined
}

/** The place of the closing quotation mark; the end of the bytes if there is none. */
function endOfText(text: Buffer, start: number): number {
  let at = start + 1
  for (;;) {
    const near = Math.min(at + LONG_TEXT_BYTES, text.length)
    for (; at < near; at += 1) {
      const byte = text[at]
      if (byte === QUOTE) return at
      if (byte === BACKSLASH) at += 1
    }
    if (at >= text.length) return text.length
    const end = text.indexOf(QUOTE, at)
    if (end === -1) return text.length
    if (isPlain(text, at, end)) return end
    at = end + 1
  }
}

/** Whether the quotation mark at `end` ends the text: it does unless an odd number of backslashes precedes it. */
function isPlain(text: Buffer, start: number, end: number): boolean {
  let before = end
  while (before > start && text[before - 1] === BACKSLASH) before -= 1
  return (end - before) % 2 === 0
}

/** Whether objects and lists are nested deeper than this. Looks no deeper, so that no depth overflows the stack. */
export function isDeeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depthMax === 0) return true
  if (Array.isArray(value)) return value.some((inner) => isDeeperThan(inner, depthMax - 1))
  for (const field in value)
    if (isDeeperThan((value as Record<string, unknown>)[field], depthMax - 1)) return true
  return false
}

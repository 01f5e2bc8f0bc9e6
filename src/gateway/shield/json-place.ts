import { isAsciiAlphanumeric } from './characters.ts'
import type { Found } from './found.ts'
import { QUOTED_DEPTH_MAX } from './placeholders.ts'

/**
 * Follows the grammar of JSON through a text: where its next character stands, in JSON or not, and within how many JSON
 * strings, of which each may hold JSON text again. A text may begin JSON anywhere with `{` or `[`; what proves to be no
 * JSON is text again. Lenient: any word counts as a value without quotes.
 */
export interface JsonPlace {
  read(text: string, start: number, end: number): void
  depth(): number
  /** Whether a value of an object or a list may begin at the next character. */
  isAtValue(): boolean
  /** Whether nothing but JSON has been read, and a value of its own may begin. */
  isAtBeginning(): boolean
}

type State = 'text' | 'key' | 'colon' | 'value' | 'word' | 'after' | 'string'

/** A text: the whole one, or what a JSON string holds. */
interface Level {
  state: State
  readonly containers: number[]
  isKey: boolean
  /** What follows the backslash of an unfinished escape. */
  escape: string | undefined
  inner: Level | undefined
}

const [QUOTE, COMMA, COLON, BACKSLASH] = [34, 44, 58, 92]
/** Each is closed by the character after the next. */
const [OBJECT, LIST] = [123, 91]

export function createJsonPlace(): JsonPlace {
  const whole = createLevel()

  return {
    read(text, start, end) {
      for (let index = start; index < end; index += 1) step(whole, text.charCodeAt(index))
    },
    depth() {
      let depth = 0
      for (let level = whole; level.state === 'string' && level.inner; level = level.inner)
        depth += 1
      return depth
    },
    isAtValue() {
      let level = whole
      while (level.state === 'string' && level.inner && level.escape === undefined)
        level = level.inner
      return level.state === 'value' && level.containers.length > 0
    },
    isAtBeginning: () => whole.state === 'value' && whole.containers.length === 0,
  }
}

function createLevel(): Level {
  return { state: 'value', containers: [], isKey: false, escape: undefined, inner: undefined }
}

function step(level: Level, code: number): void {
  const { state, containers } = level
  if (state === 'string') return stepInString(level, code)
  const isOpening = code === OBJECT || code === LIST
  if (state === 'text' && !isOpening) return
  if (code === 32 || code === 9 || code === 10 || code === 13) {
    if (state === 'word') level.state = 'after'
    return
  }
  const isAfter = state === 'after' || state === 'word'
  const container = containers.at(-1)
  const isClosing = container !== undefined && code === container + 2
  if (code === QUOTE && (state === 'key' || state === 'value')) {
    level.isKey = state === 'key'
    level.inner = createLevel()
    level.state = 'string'
  } else if (code === COLON && state === 'colon') level.state = 'value'
  else if (code === COMMA && isAfter && container) level.state = beginningOf(container)
  else if (isClosing && (isAfter || state === beginningOf(container))) {
    containers.pop()
    level.state = containers.length === 0 ? 'text' : 'after'
  } else if (isWord(code) && (state === 'value' || state === 'word')) level.state = 'word'
  else {
    // What is no JSON so far may begin some here.
    if (!isOpening || (state !== 'value' && state !== 'text')) containers.length = 0
    if (isOpening) containers.push(code)
    level.state = isOpening ? beginningOf(code) : 'text'
  }
}

function beginningOf(container: number): State {
  return container === OBJECT ? 'key' : 'value'
}

/** Letters, digits, `+`, `-` and `.`: numbers, `true`, `null`, and a placeholder whose quotes a model forgot. */
function isWord(code: number): boolean {
  return isAsciiAlphanumeric(code) || code === 43 || code === 45 || code === 46
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }
/** `u` and four digits. */
const UNICODE_ESCAPE = 5

function stepInString(level: Level, code: number): void {
  const inner = level.inner as Level
  if (level.escape !== undefined) {
    const escape = level.escape + String.fromCharCode(code)
    const isUnicode = escape.startsWith('u')
    level.escape = isUnicode && escape.length < UNICODE_ESCAPE ? escape : undefined
    if (level.escape !== undefined) return
    const escaped = ESCAPED[escape] ?? escape
    step(inner, isUnicode ? Number.parseInt(escape.slice(1), 16) : escaped.charCodeAt(0))
  } else if (code === BACKSLASH) level.escape = ''
  else if (code === QUOTE) level.state = level.isKey ? 'colon' : 'after'
  else if (code < 32) {
    level.containers.length = 0
    level.state = 'text'
  } else step(inner, code)
}

/** A string alone, an object or a list. */
const MAY_BE_JSON = /^\s*"|[{[]/
const NUMBER = /^\s*-?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i
const OF_NUMBER = /[-+.\de]/i
const NUMBER_ALONE = /^[-+.\de]+$/i
const BEFORE_VALUE = /(?:^|[:[,])\s*[-+.\de]*$/i
const BEFORE_VALUE_MAX = 100
/** So many characters take less than a millisecond. */
const STEP_CHARACTERS = 16_384

/**
 * Adds to values of a text where they stand in JSON: within how many strings, and whether they are a number. A number
 * is one value as a whole, with its sign, decimals and exponent; two numbers of a list are none together.
 */
export function* placeInJson(
  text: string,
  found: readonly Found[],
): Generator<void, readonly Found[]> {
  if (!found.some((each) => mayDependOnPlace(text, each)) || !MAY_BE_JSON.test(text)) return found
  const place = createJsonPlace()
  const placed: Found[] = []
  let read = 0
  for (const each of found) {
    const done = placed.at(-1)?.end ?? 0
    if (each.start < done) continue
    const start = startOfNumber(text, each.start, Math.max(done, read))
    for (; read < start; yield) {
      const next = Math.min(start, read + STEP_CHARACTERS)
      place.read(text, read, next)
      read = next
    }
    const depth = place.depth()
    let end = each.end
    while (place.isAtValue() && OF_NUMBER.test(text.charAt(end))) end += 1
    const value = text.slice(start, end)
    if (!place.isAtValue() || depth > QUOTED_DEPTH_MAX) placed.push({ ...each, depth })
    else if (isJsonNumber(value)) placed.push({ ...each, start, end, depth, isNumber: true })
    else if (!value.split(',').every(isJsonNumber)) placed.push({ ...each, depth })
  }
  return placed
}

export function isJsonNumber(text: string): boolean {
  return NUMBER.test(text)
}

function mayDependOnPlace(text: string, { start, end }: Found): boolean {
  const source = text.slice(start, end)
  if (/[\\,]/.test(source)) return true
  const before = text.slice(Math.max(0, start - BEFORE_VALUE_MAX), start)
  return NUMBER_ALONE.test(source) && BEFORE_VALUE.test(before)
}

function startOfNumber(text: string, from: number, limit: number): number {
  let start = from
  while (start > limit && OF_NUMBER.test(text.charAt(start - 1))) start -= 1
  return start
}

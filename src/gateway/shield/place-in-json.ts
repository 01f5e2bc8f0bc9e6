import type { Found } from './found.ts'
import { createJsonPlace } from './json-place.ts'
import { QUOTED_DEPTH_MAX } from './placeholders.ts'

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

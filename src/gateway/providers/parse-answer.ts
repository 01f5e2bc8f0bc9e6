import { isDeeperThan } from '../../platform/lib/is-deeper-than.ts'
import { UnreadableAnswer } from './read-failure.ts'

/**
 * The most levels of an answer. A request may have as many, and the next one repeats the answer. Serializing thousands
 * of levels overflows the stack.
 */
export const ANSWER_DEPTH_MAX = 200

/** Of the arguments of a tool: the answer, its content and the block are around them. */
const INPUT_DEPTH_MAX = ANSWER_DEPTH_MAX - 3

/**
 * Parses JSON of an upstream. Throws if it is not JSON, or nested too deep to be written again, also after `shorten` has
 * replaced the parts that may be.
 */
export function parseAnswer(
  text: string,
  shorten?: (value: unknown) => void,
  depthMax = ANSWER_DEPTH_MAX,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  const value = parse(text)
  // Each level takes two characters.
  if (text.length > 2 * depthMax) {
    shorten?.(value)
    assertShallow(value, depthMax)
  }
  return value
}

/**
 * Returns the arguments of a tool as an object. A model writes as many levels as its customer asks for, so too many are
 * no fault of the answer: like text that is no JSON, they stay visible as text, up to a depth that no text can be
 * written of.
 */
export function shallowInput(input: unknown, text: () => string): unknown {
  if (!isDeeperThan(input, INPUT_DEPTH_MAX)) return input
  try {
    return { invalid_json: text() }
  } catch {
    return { invalid_json: '' }
  }
}

export class TooDeep extends UnreadableAnswer {
  constructor(depthMax: number) {
    super(`the answer has more than ${depthMax} levels of objects and lists`)
  }
}

/** Checks that a value has at most `depthMax` levels. Throws `TooDeep`. */
export function assertShallow(value: unknown, depthMax = ANSWER_DEPTH_MAX): void {
  if (isDeeperThan(value, depthMax)) throw new TooDeep(depthMax)
}

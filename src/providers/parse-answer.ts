import { isDeeperThan } from '../lib/is-deeper-than.ts'
import { UnreadableAnswer } from './read-failure.ts'

/** As for a request, whose next turn repeats the answer. Serializing thousands of levels overflows the stack. */
const ANSWER_DEPTH_MAX = 200

/** Parses JSON of an upstream. Throws if it is not JSON, or nested too deep to be written again. */
export function parseAnswer(text: string): unknown {
  const value: unknown = JSON.parse(text)
  // Each level takes two characters.
  if (text.length > 2 * ANSWER_DEPTH_MAX) assertShallow(value)
  return value
}

export class TooDeep extends UnreadableAnswer {
  constructor() {
    super(`the answer has more than ${ANSWER_DEPTH_MAX} levels of objects and lists`)
  }
}

/** Throws `TooDeep`. */
export function assertShallow(value: unknown): void {
  if (isDeeperThan(value, ANSWER_DEPTH_MAX)) throw new TooDeep()
}

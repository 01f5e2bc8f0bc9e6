import { isDeeperThan } from '../../platform/lib/bound-json.ts'
import { UnreadableAnswer } from './read-failure.ts'

/**
 * The finish reasons of providers as the published ones. A provider has reasons of its own for an answer that was cut or
 * that failed, and gains new ones; read as `stop`, a client would take half an answer for a whole one.
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'function_call' | 'content_filter'

const PUBLISHED: ReadonlySet<string> = new Set([
  'stop',
  'length',
  'tool_calls',
  'function_call',
  'content_filter',
])

/** In this order: `TOO_MANY_TOOL_CALLS` is a failure, not the end of a turn with tools. */
const BY_WORD: readonly (readonly [RegExp, FinishReason | 'failed'])[] = [
  [
    /error|fail|malform|unexpected|missing|too_?many|invalid|insufficient|timeout|time_limit|abort|cancel|interrupt|unavailable|overload|network|no_image|^(?:image_)?other$/i,
    'failed',
  ],
  [/length|max_?(?:output_?)?tokens?|token_?limit|context/i, 'length'],
  [
    /filter|safety|sensitive|refus|block|prohibit|policy|moderat|guardrail|recitation|spii|language/i,
    'content_filter',
  ],
  [/tool|function/i, 'tool_calls'],
]

/**
 * Returns the finish reason, or `failed` if the provider says that the model did not come to an end of its answer by
 * itself.
 */
export function readFinishReason(reason: string): FinishReason | 'failed' {
  if (PUBLISHED.has(reason)) return reason as FinishReason
  return BY_WORD.find(([words]) => words.test(reason))?.[1] ?? 'stop'
}

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

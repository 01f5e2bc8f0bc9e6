import { BODY_BOUNDS, findJsonExcess } from '../../../platform/lib/bound-json.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'
import { RefusedRequest } from './refused-request.ts'

/** Fewer characters cannot contain enough values to matter. */
const BOUNDED_FROM_CHARACTERS = 16 * 1024

/**
 * The arguments of tool calls are texts of JSON within the JSON that the gateway has bounded. Together they may contain
 * as much as a body, because the packages need them parsed. Throws a `RefusedRequest`.
 */
export function assertArguments(messages: readonly JsonObject[]): void {
  const texts = messages.flatMap(({ tool_calls: calls }) =>
    Array.isArray(calls) ? calls.flatMap(argumentsOf) : [],
  )
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters < BOUNDED_FROM_CHARACTERS) return
  if (findJsonExcess(Buffer.from(texts.join(',')), BODY_BOUNDS) !== undefined)
    throw new RefusedRequest('the arguments of the tool calls contain too many values')
}

function argumentsOf(call: unknown): string[] {
  const text = isObject(call) && isObject(call.function) ? call.function.arguments : undefined
  return typeof text === 'string' ? [text] : []
}

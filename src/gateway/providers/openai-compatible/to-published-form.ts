import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject, UpstreamFailure } from '../contract.ts'
import { withErrorWords } from '../error-words.ts'
import { readFinishReason } from '../parse-answer.ts'
import { readLateError } from '../read-failure.ts'

/**
 * Brings the choices of an answer or chunk into the published form, in place: contents as texts (Mistral's reasoning models
 * send lists), arguments of tools as texts, and finish reasons of the published list. Everything behind the adapter reads,
 * counts and restores those. Returns the failure of a choice that failed.
 */
export function toPublishedForm(
  { choices }: JsonObject,
  part: 'message' | 'delta',
): UpstreamFailure | undefined {
  let failure: UpstreamFailure | undefined
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices as unknown[]) {
    if (!isObject(choice)) continue
    const message = choice[part]
    if (isObject(message)) {
      if (Array.isArray(message.content)) flatten(message, message.content)
      writeArguments(message)
    }
    failure = readFinish(choice) ?? failure
  }
  return failure
}

function readFinish(choice: JsonObject): UpstreamFailure | undefined {
  const { finish_reason: reason, error } = choice
  if (error) return readLateError(error, 'error in a choice')
  if (typeof reason !== 'string' || reason === '') return undefined
  const finish = readFinishReason(reason)
  choice.finish_reason = finish === 'failed' ? null : finish
  if (finish !== 'failed') return undefined
  return {
    kind: 'failure',
    reason: 'bad_answer',
    detail: withErrorWords('the model failed', reason),
  }
}

/** Some upstreams send the arguments as an object, which clients would read as no arguments. */
function writeArguments({ tool_calls: calls }: JsonObject): void {
  if (!Array.isArray(calls)) return
  for (const call of calls as unknown[]) {
    const called = isObject(call) ? call.function : undefined
    if (isObject(called) && isObject(called.arguments))
      called.arguments = JSON.stringify(called.arguments)
  }
}

function flatten(message: JsonObject, parts: readonly unknown[]): void {
  const thinking = parts.filter(isThinking).map((part) => textOf(part.thinking))
  const texts = parts.filter((part) => !isThinking(part)).map(textOf)
  message.content = texts.join('')
  const reasoning = thinking.join('')
  if (reasoning !== '' && typeof message.reasoning_content !== 'string')
    message.reasoning_content = reasoning
}

function isThinking(part: unknown): part is JsonObject {
  return isObject(part) && part.type === 'thinking'
}

/** Of a text, a part with a text, or a list of either. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textOfPart).join('')
  return textOfPart(value)
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  return isObject(part) && typeof part.text === 'string' ? part.text : ''
}

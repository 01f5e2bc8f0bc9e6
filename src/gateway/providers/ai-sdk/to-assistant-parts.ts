import type { LanguageModelV4Message, LanguageModelV4ToolCallPart } from '@ai-sdk/provider'
import { parseExactly } from '../../../platform/lib/large-integers.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'
import { readCacheControl } from './cache-control.ts'
import { readReasoningDetails } from './reasoning-details.ts'
import { RefusedRequest } from './refused-request.ts'
import { readThoughtSignature } from './thought-signature.ts'
import { isBlank, isSaid, listParts, textOf } from './to-user-parts.ts'

export type AssistantParts = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

/** Converts an earlier answer of the model: its reasoning, then its text, then its tool calls. */
export function toAssistantParts(message: JsonObject): AssistantParts {
  return [...readReasoning(message), ...readTexts(message), ...readToolCalls(message.tool_calls)]
}

function readReasoning(message: JsonObject): AssistantParts {
  const parts = readReasoningDetails(message.reasoning_details)
  if (parts.length > 0) return parts
  const text = message.reasoning_content
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : []
}

function readTexts(message: JsonObject): AssistantParts {
  const signature = readThoughtSignature(message)
  const { content, refusal } = message
  if (typeof content === 'string') {
    return isBlank(content) && !signature.providerOptions
      ? []
      : [{ type: 'text', text: content, ...signature }]
  }
  const parts = listParts(content)
    .filter(isSaid)
    .map((part) => ({
      type: 'text' as const,
      text: textOf(part.type === 'refusal' ? part.refusal : part.text),
      ...readCacheControl(part),
    }))
  if (parts.length > 0) return parts
  if (typeof refusal === 'string') return [{ type: 'text', text: refusal }]
  return signature.providerOptions ? [{ type: 'text', text: '', ...signature }] : []
}

function readToolCalls(calls: unknown): LanguageModelV4ToolCallPart[] {
  if (!Array.isArray(calls)) return []
  return calls.map((call: unknown) => {
    if (!isObject(call) || !isObject(call.function)) {
      throw new RefusedRequest('a tool call that is not one of a function')
    }
    return {
      type: 'tool-call',
      toolCallId: textOf(call.id),
      toolName: textOf(call.function.name),
      input: parseArguments(call.function.arguments),
      ...readThoughtSignature(call),
    }
  })
}

/**
 * Upstreams require an object. Clients send an empty string for a call without arguments, and some an object itself. What
 * a model wrote wrongly stays in the conversation that its client sends, which must go on: it is shown as it is.
 */
function parseArguments(text: unknown): unknown {
  if (text === undefined || text === null || text === '') return {}
  if (isObject(text)) return text
  const written = textOf(text)
  try {
    const value = parseExactly(written)
    return isObject(value) ? value : { value }
  } catch {
    return { invalid_json: written }
  }
}

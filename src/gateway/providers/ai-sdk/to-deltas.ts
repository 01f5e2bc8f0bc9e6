import type { LanguageModelV4StreamPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import { unmarkIntegers } from '../../../platform/lib/exact-json.ts'
import type { JsonObject } from '../contract.ts'
import { toReasoningDetail, toExtraContent } from './reasoning-details.ts'

/** Converts one part of an upstream's stream to no, one or, rarely, several deltas. */
export type ToDeltas = (part: LanguageModelV4StreamPart) => JsonObject[]

interface OpenToolCall {
  readonly index: number
  hasArguments: boolean
  hasSignature: boolean
}

/**
 * Cohere sometimes sends this for a call without arguments; other upstreams send an object or nothing. Within an object it is
 * a value, which a stream may send as a piece of its own.
 */
const NO_ARGUMENTS = 'null'

/** Creates the converter of one stream, which tracks open tool calls and blocks of thinking. */
export function createToDeltas(): ToDeltas {
  const toolCalls = new Map<string, OpenToolCall>()
  const thinking = new Map<string, { text: string; metadata: SharedV4ProviderMetadata }>()
  let details = 0

  /** Clients must send a block back complete, with its signature, so it is also delivered complete. */
  function think(
    part: Extract<LanguageModelV4StreamPart, { type: `reasoning-${string}`; id: string }>,
  ): JsonObject[] {
    const block = thinking.get(part.id) ?? { text: '', metadata: {} }
    thinking.set(part.id, block)
    block.metadata = { ...block.metadata, ...part.providerMetadata }
    if (part.type === 'reasoning-delta') {
      block.text += part.delta
      return part.delta === '' ? [] : [{ reasoning_content: part.delta }]
    }
    if (part.type === 'reasoning-start') return []
    thinking.delete(part.id)
    const detail = toReasoningDetail(block.text, block.metadata, details)
    if (!detail) return []
    details += 1
    return [{ reasoning_details: [detail] }]
  }

  function startToolCall(
    id: string,
    name: string,
    metadata: SharedV4ProviderMetadata | undefined,
    text: string,
  ): JsonObject[] {
    const extraContent = toExtraContent(metadata)
    const index = toolCalls.size
    toolCalls.set(id, {
      index,
      hasArguments: text !== '',
      hasSignature: extraContent.extra_content !== undefined,
    })
    const call = { index, id, type: 'function', function: { name, arguments: text } }
    return [{ tool_calls: [{ ...call, ...extraContent }] }]
  }

  function addArguments(id: string, text: string): JsonObject[] {
    const call = toolCalls.get(id)
    if (!call || text === '' || (text === NO_ARGUMENTS && !call.hasArguments)) return []
    call.hasArguments = true
    return [{ tool_calls: [{ index: call.index, function: { arguments: text } }] }]
  }

  /** The complete call at its end adds the arguments and the signature that no delta contained. */
  function endToolCall(
    part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>,
  ): JsonObject[] {
    const call = toolCalls.get(part.toolCallId)
    const input = part.input === NO_ARGUMENTS ? '{}' : unmarkIntegers(part.input)
    if (!call) return startToolCall(part.toolCallId, part.toolName, part.providerMetadata, input)
    const deltas = call.hasArguments ? [] : addArguments(part.toolCallId, input)
    const extraContent = call.hasSignature ? {} : toExtraContent(part.providerMetadata)
    if (extraContent.extra_content === undefined) return deltas
    return [...deltas, { tool_calls: [{ index: call.index, ...extraContent }] }]
  }

  return (part) => {
    switch (part.type) {
      case 'text-start':
      case 'text-delta': {
        const text = part.type === 'text-delta' ? part.delta : ''
        const extraContent = toExtraContent(part.providerMetadata)
        // The first delta of a text repeats the signature of its start.
        if (part.type === 'text-start' || (text === '' && !('extra_content' in extraContent))) {
          return []
        }
        return [{ content: text, ...extraContent }]
      }
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return think(part)
      case 'tool-input-start':
        return part.providerExecuted === true
          ? []
          : startToolCall(part.id, part.toolName, part.providerMetadata, '')
      case 'tool-input-delta':
        return addArguments(part.id, unmarkIntegers(part.delta))
      case 'tool-call':
        return part.providerExecuted === true ? [] : endToolCall(part)
      default:
        return []
    }
  }
}

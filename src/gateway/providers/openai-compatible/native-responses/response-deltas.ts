/** The events of a response that only add text, or the input of a tool. */
import { isObject } from '../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../contract.ts'
import type { DeltaForm } from '../../text-delta.ts'

export const RESPONSE_DELTAS: DeltaForm = {
  varying: ['sequence_number', 'obfuscation'],
  textOf(event) {
    const { delta, item, part } = event
    if (typeof delta !== 'string' || isObject(item) || isObject(part)) return undefined
    return outputOf(event) && { field: 'delta', text: delta }
  },
  shapeOf(event) {
    const nativeWith = (delta: string): JsonObject => ({ ...event, delta })
    const bodyWith = (text: string): JsonObject => bodyOf(outputOf(nativeWith(text)))
    return { nativeWith, bodyWith }
  },
}

/** Returns the delta of chat completions for what an event of these types adds. */
export function outputOf({ type, delta, output_index: index }: JsonObject): JsonObject | undefined {
  switch (type) {
    case 'response.output_text.delta':
      return { content: delta }
    case 'response.refusal.delta':
      return { refusal: delta }
    case 'response.reasoning_text.delta':
    case 'response.reasoning_summary_text.delta':
      return { reasoning_content: delta }
    case 'response.function_call_arguments.delta':
      return { tool_calls: [{ index, function: { arguments: delta } }] }
    case 'response.custom_tool_call_input.delta':
      return { tool_calls: [{ index, custom: { input: delta } }] }
    default:
      return undefined
  }
}

export function bodyOf(delta: JsonObject | undefined): JsonObject {
  return { choices: delta ? [{ index: 0, delta, finish_reason: null }] : [] }
}

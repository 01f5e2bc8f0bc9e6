/** The events of a message that only add text, thinking or the input of a tool. */
import { isObject } from '../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../contract.ts'
import type { DeltaForm, FieldText } from '../../text-delta.ts'
import type { FinishReason } from '../../parse-answer.ts'

/** The field with the text, by the type of the delta. */
const FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
])

export const MESSAGE_DELTAS: DeltaForm = {
  varying: [],
  // A usage in any event is counted.
  textOf: (event) => (event.usage || event.message ? undefined : textOf(event)),
  shapeOf(event, field) {
    const delta = event.delta as JsonObject
    const nativeWith = (text: string): JsonObject => ({
      ...event,
      delta: { ...delta, [field]: text },
    })
    const bodyWith = (text: string): JsonObject => ({
      choices: [choice(outputOf(nativeWith(text)) as JsonObject)],
    })
    return { nativeWith, bodyWith }
  },
}

function textOf({ type, delta }: JsonObject): FieldText | undefined {
  if (type !== 'content_block_delta' || !isObject(delta)) return undefined
  const field = FIELDS.get(delta.type)
  const text = field === undefined ? undefined : delta[field]
  return typeof text === 'string' && text !== '' ? { field: field as string, text } : undefined
}

/** Returns the delta of chat completions for the text that an event adds; undefined if it adds none. */
export function outputOf(event: JsonObject): JsonObject | undefined {
  const found = textOf(event)
  if (!found) return undefined
  switch (found.field) {
    case 'text':
      return { content: found.text }
    case 'thinking':
      return { reasoning_content: found.text }
    default:
      return { tool_calls: [{ index: event.index, function: { arguments: found.text } }] }
  }
}

export function choice(delta: JsonObject, finishReason: FinishReason | null = null): JsonObject {
  return { index: 0, delta, finish_reason: finishReason }
}

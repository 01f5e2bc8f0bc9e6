import { isObject } from '../../platform/lib/is-object.ts'

/** A message as OpenTelemetry's conventions have it. */
export interface Message {
  readonly role: string
  readonly parts: readonly object[]
}

/** Items of the Responses format as messages; what the conventions have no part for keeps its own shape. */
export function toMessages(items: unknown): Message[] {
  if (!Array.isArray(items)) return []
  return items.filter(isObject).map((item) => {
    switch (item.type ?? 'message') {
      case 'message':
        return { role: textOr(item.role, 'user'), parts: toParts(item.content) }
      case 'function_call':
      case 'custom_tool_call': {
        const called = item.type === 'function_call' ? item.arguments : item.input
        return {
          role: 'assistant',
          parts: [{ type: 'tool_call', id: item.call_id, name: item.name, arguments: called }],
        }
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return {
          role: 'tool',
          parts: [{ type: 'tool_call_response', id: item.call_id, response: item.output }],
        }
      case 'reasoning':
        return { role: 'assistant', parts: toParts(item.summary, 'reasoning') }
      default:
        return { role: 'assistant', parts: [item] }
    }
  })
}

function toParts(content: unknown, type: 'text' | 'reasoning' = 'text'): object[] {
  if (typeof content === 'string') return [{ type, content }]
  if (!Array.isArray(content)) return []
  return content
    .filter(isObject)
    .map((part) => (typeof part.text === 'string' ? { type, content: part.text } : part))
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback
}

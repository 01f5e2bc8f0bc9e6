import { isObject } from '../../platform/lib/is-object.ts'
import type { ResponseStore } from '../../customers/stored-responses/response-store.ts'
import type { SpanContent } from './to-otlp-spans.ts'

/** The largest text that is sent: texts are in memory, and a collector takes a few megabytes. */
const TEXT_BYTES_MAX = 256_000

/**
 * Returns the texts of calls whose customer stores their responses (`/v1/responses`) and asked for them in this
 * destination, by the ids of the charges, which are those of the responses. Nothing else is stored of prompts and
 * answers. What keys of a team wrote is not for the account that pays for them.
 */
export async function readContents(
  store: Pick<ResponseStore, 'measure' | 'read'>,
  customerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SpanContent>> {
  const reader = { customerId, keyId: null, seesAccount: true }
  const contents = new Map<string, SpanContent>()
  const small: string[] = []
  for (const { id, inputBytes, responseBytes } of await store.measure(reader, ids)) {
    if (inputBytes > TEXT_BYTES_MAX || responseBytes > TEXT_BYTES_MAX)
      contents.set(id, { omitted: 'too_large' })
    else small.push(id)
  }
  if (small.length === 0) return contents
  for (const [id, { input, output }] of await store.read(reader, small, 'all'))
    contents.set(id, written(input ?? '[]', output))
  return contents
}

/** Customers can nest a text so deep that it is read and not written: that must not hold up its charge. */
function written(input: string, output: string): SpanContent {
  try {
    return {
      input: JSON.stringify(toMessages(JSON.parse(input))),
      output: JSON.stringify(toMessages(JSON.parse(output))),
    }
  } catch {
    return { omitted: 'unreadable' }
  }
}

/** A message as OpenTelemetry's conventions have it. */
interface Message {
  readonly role: string
  readonly parts: readonly object[]
}

/** Items of the Responses format as messages; what the conventions have no part for keeps its own shape. */
function toMessages(items: unknown): Message[] {
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

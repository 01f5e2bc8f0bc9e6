/** The body of a chat as an upstream in the chat-completions format gets it. */
import { isObject } from '../../lib/is-object.ts'
import type { ChatContent, JsonObject } from '../contract.ts'

export interface ChatBodyOptions {
  /** The fields of a request that reach this upstream, beside those that the gateway writes itself. */
  readonly fields: ReadonlySet<string>
  /** What this upstream calls the limit of output tokens. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
  /** Sent with every chat, where the upstream would otherwise choose the price. */
  readonly serviceTier?: 'default' | undefined
}

export interface ChatBody {
  /** Bytes of what `write` gives for this limit or a lower one, without the data of images. */
  measure(content: ChatContent): number
  write(content: ChatContent): string
}

/** All but what the gateway writes itself; `bytes` is without the data of images. */
interface Rest {
  readonly fields: ReadonlySet<string>
  readonly text: string
  readonly bytes: number
}

/**
 * A request is written once: before its money is held, which its size decides, and the same text is sent
 * by every try.
 */
export function createChatBody({ fields, maxTokensField, serviceTier }: ChatBodyOptions): ChatBody {
  const tier = serviceTier === undefined ? '' : `,"service_tier":"${serviceTier}"`

  function restOf({ body, hasCacheControl, imageBytes, memo }: ChatContent): Rest {
    // Upstreams that share the list of fields share what was written. The mark of a cache is the only
    // thing in which bodies of one request differ, and is taken out of them.
    const known = memo.written as Rest | undefined
    if (known?.fields === fields) return known
    const text = writeFields(hasCacheControl ? withoutCacheControl(body) : body, fields)
    const rest = { fields, text, bytes: Buffer.byteLength(text) - imageBytes }
    memo.written = rest
    return rest
  }

  function headOf({ model, outputTokensMax, isStream }: ChatContent): string {
    const stream = isStream ? ',"stream":true,"stream_options":{"include_usage":true}' : ''
    return `{"model":${JSON.stringify(model)},"${maxTokensField}":${outputTokensMax}${stream}${tier}`
  }

  return {
    measure: (content) => Buffer.byteLength(headOf(content)) + restOf(content).bytes,
    write: (content) => headOf(content) + restOf(content).text,
  }
}

/** Field by field: a copy of the request without the others was measured to take longer. */
function writeFields(body: JsonObject, fields: ReadonlySet<string>): string {
  let text = ''
  for (const field in body) {
    const value = body[field]
    if (value === null || value === undefined || !fields.has(field)) continue
    text += `,"${field}":${JSON.stringify(value)}`
  }
  return `${text}}`
}

/** An upstream that bills what it writes to a cache does so by prices that the catalog may not have. */
function withoutCacheControl(body: JsonObject): JsonObject {
  const without = (carrier: unknown): unknown => {
    if (!isObject(carrier) || carrier.cache_control === undefined) return carrier
    const { cache_control: _mark, ...rest } = carrier
    return rest
  }
  const messages = (body.messages as JsonObject[]).map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.map(without) }
      : message,
  )
  return {
    ...body,
    messages,
    ...(Array.isArray(body.tools) ? { tools: body.tools.map(without) } : {}),
  }
}

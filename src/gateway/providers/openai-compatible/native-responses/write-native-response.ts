/** Writes a Responses request for an upstream that speaks this format, limited to lists of fields. */
import { isObject } from '../../../../platform/lib/is-object.ts'
import type { ChatContent, JsonObject, SearchRounds } from '../../contract.ts'
import { addressOfInputFile } from '../../../media-of-part.ts'
import { isWebSearchTool } from '../../client-tools.ts'
import { inlinedDocument } from '../../inline-documents.ts'

export interface NativeResponse {
  readonly text: string
  /** The bytes that count for the hold: without the data of images. */
  readonly bytes: number
}

/** The least limit that the format takes. */
const OUTPUT_TOKENS_MIN = 16
const ENCRYPTED = 'reasoning.encrypted_content'

/** Whether the request can be sent in its own format; a limit below the format's own is sent in a chat. */
export function isNativeResponse({ native, hasAudio, outputTokensMax }: ChatContent): boolean {
  return native?.format === 'responses' && !hasAudio && outputTokensMax >= OUTPUT_TOKENS_MIN
}

/**
 * The upstream ignores uses beyond `max_tool_calls`, and runs the model once after each use, perhaps once more after a
 * use that it ignored. `max_output_tokens` is for the whole response.
 */
export function searchRoundsOfResponse(content: ChatContent): SearchRounds | undefined {
  const { webSearchesMax } = content
  if (webSearchesMax === 0 || !isNativeResponse(content)) return undefined
  return { prompts: webSearchesMax + 2, outputs: 1 }
}

/** Each request is serialized once, before the hold; attempts differ in their heads alone. */
export function writeNativeResponse(
  content: ChatContent,
  serviceTier: 'default' | undefined,
): NativeResponse {
  const { model, outputTokensMax, isStream } = content
  const head = JSON.stringify({
    model,
    max_output_tokens: outputTokensMax,
    store: false,
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    ...(isStream ? { stream: true } : {}),
  })
  const { text, bytes } = restOf(content)
  // The head is never empty, and the input is always there.
  return {
    text: `${head.slice(0, -1)},${text.slice(1)}`,
    bytes: Buffer.byteLength(head) - 1 + bytes,
  }
}

/** The body without its head, and what it was written from. */
interface Rest extends NativeResponse {
  readonly native: ChatContent['native']
  readonly chat: JsonObject
  readonly webSearchesMax: number
}

function restOf(content: ChatContent): NativeResponse {
  const { native, body: chat, webSearchesMax, memo } = content
  const known = memo.writtenNatively as Rest | undefined
  const isKnown =
    known?.native === native && known?.chat === chat && known.webSearchesMax === webSearchesMax
  if (isKnown) return known
  const rest: Rest = { native, chat, webSearchesMax, ...writeRest(content) }
  memo.writtenNatively = rest
  return rest
}

function writeRest(content: ChatContent): NativeResponse {
  const body = (content.native as NonNullable<ChatContent['native']>).body
  const counted = { imageBytes: 0, encryptedBytes: 0 }
  const effort = isObject(body.reasoning) ? body.reasoning.effort : undefined
  const isReasoning = !isGiven(effort) || isGiven(content.body.reasoning_effort)
  const includes = Array.isArray(body.include) && body.include.includes(ENCRYPTED)
  const text = JSON.stringify({
    ...pick(PLAIN_FIELDS, body),
    // The gateway takes the effort away from models that cannot reason.
    ...(isReasoning && includes ? { include: [ENCRYPTED] } : {}),
    ...(isReasoning && isObject(body.reasoning)
      ? { reasoning: pick(REASONING_FIELDS, body.reasoning) }
      : {}),
    ...toText(body.text),
    ...toTools(body, content),
    input: toInput(body.input, content, counted),
  })
  // What is encrypted may be compressed: it counts twice.
  const bytes = Buffer.byteLength(text) - counted.imageBytes + counted.encryptedBytes
  return { text, bytes }
}

interface Counted {
  imageBytes: number
  encryptedBytes: number
}

function toInput(input: unknown, content: ChatContent, counted: Counted): unknown {
  if (!Array.isArray(input)) return input
  return input.filter(isObject).flatMap((item) => {
    const type = item.type ?? 'message'
    // As the translation reads it: `["message"]` is no message there, so nobody checked or counted its content.
    if (typeof type !== 'string') return []
    if (type === 'web_search_call')
      return content.webSearchesMax > 0 ? [pick(SEARCH_ITEM_FIELDS, item)] : []
    const fields = ITEM_FIELDS.get(type)
    if (!fields) return []
    const cleaned: JsonObject = { ...pick(fields, item), type }
    if (type === 'reasoning') return toReasoning(cleaned, content, counted)
    if (Array.isArray(cleaned.content)) cleaned.content = toParts(cleaned.content, content, counted)
    if (Array.isArray(cleaned.output)) cleaned.output = toParts(cleaned.output, content, counted)
    else if (type.endsWith('_output') && typeof cleaned.output !== 'string')
      cleaned.output = JSON.stringify(cleaned.output ?? '')
    // The inner shape takes either.
    for (const field of ['arguments', 'input'])
      if (isGiven(cleaned[field]) && typeof cleaned[field] !== 'string')
        cleaned[field] = JSON.stringify(cleaned[field])
    return [cleaned]
  })
}

/** Without its encrypted content, nothing can be done with it: nothing is stored. */
function toReasoning(item: JsonObject, content: ChatContent, counted: Counted): JsonObject[] {
  const { encrypted_content: encrypted, summary } = item
  if (typeof encrypted !== 'string' || encrypted === '') return []
  counted.encryptedBytes += Buffer.byteLength(encrypted)
  // Only texts: anything else in a summary is in no translation, and so in no hold.
  const texts = (Array.isArray(summary) ? summary : []).filter(
    (part): part is JsonObject => isObject(part) && part.type === 'summary_text',
  )
  return [{ ...item, summary: toParts(texts, content, counted) }]
}

function toParts(parts: unknown[], content: ChatContent, counted: Counted): JsonObject[] {
  return parts.filter(isObject).flatMap((part) => {
    const fields = PART_FIELDS.get(part.type === 'text' ? 'input_text' : (part.type as string))
    if (!fields) return []
    const cleaned = pick(fields, part)
    if (part.type === 'text') cleaned.type = 'input_text'
    if (part.type === 'input_file') return [{ ...cleaned, ...toFile(part, content) }]
    if (part.type !== 'input_image') return [cleaned]
    if (!IMAGE_DETAILS.has(cleaned.detail as string)) delete cleaned.detail
    const given = isObject(cleaned.image_url) ? cleaned.image_url.url : cleaned.image_url
    return [{ ...cleaned, image_url: toImageUrl(String(given), counted) }]
  })
}

/** With the type that was checked: the translation reads a file without any as a PDF. */
function toFile(part: JsonObject, content: ChatContent): JsonObject {
  const address = addressOfInputFile(part)
  if (address !== undefined) {
    const { url, filename } = inlinedDocument(content, address)
    return { file_data: url, ...(isGiven(part.filename) ? {} : { filename }) }
  }
  const text = String(part.file_data)
  return { file_data: text.startsWith('data:') ? text : `data:application/pdf;base64,${text}` }
}

function toImageUrl(url: string, counted: Counted): string {
  // The address as our parser reads it, like the one that was checked.
  if (!/^data:/i.test(url)) return new URL(url).href
  counted.imageBytes += url.length - url.indexOf(',') - 1
  return url
}

/** The tools that the translation has, too, and the search of the web, if the hold covers it. */
function toTools(
  body: JsonObject,
  { body: chat, webSearchesMax }: Pick<ChatContent, 'body' | 'webSearchesMax'>,
): JsonObject {
  const names = new Set(
    (Array.isArray(chat.tools) ? (chat.tools as JsonObject[]) : []).map(
      (tool) => isObject(tool.function) && tool.function.name,
    ),
  )
  let hasSearch = false
  const tools = (Array.isArray(body.tools) ? body.tools : [])
    .filter(isObject)
    .flatMap((tool): JsonObject[] => {
      if (isWebSearchTool(tool)) {
        if (webSearchesMax === 0 || hasSearch) return []
        hasSearch = true
        return [{ type: 'web_search', ...pick(SEARCH_TOOL_FIELDS, tool) }]
      }
      const fields = TOOL_FIELDS.get(tool.type as string)
      return fields && names.has(tool.name) ? [pick(fields, tool, true)] : []
    })
  if (tools.length === 0) return {}
  return {
    tools,
    ...(hasSearch ? { max_tool_calls: webSearchesMax } : {}),
    ...(hasSearch
      ? toSearchChoice(body.tool_choice, chat.tool_choice, tools)
      : toToolChoice(chat.tool_choice, tools)),
  }
}

/** The translation has no choice if the search is the only tool. */
function toSearchChoice(
  choice: unknown,
  translated: unknown,
  tools: readonly JsonObject[],
): JsonObject {
  if (isObject(choice) && isWebSearchTool(choice)) return { tool_choice: { type: 'web_search' } }
  if (translated === undefined && choice === 'required') return { tool_choice: choice }
  return toToolChoice(translated, tools)
}

function toToolChoice(choice: unknown, tools: readonly JsonObject[]): JsonObject {
  if (typeof choice === 'string') return { tool_choice: choice }
  const name = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined
  const chosen = name === undefined ? undefined : tools.find((tool) => tool.name === name)
  return chosen ? { tool_choice: { type: chosen.type, name } } : {}
}

function toText(text: unknown): JsonObject {
  if (!isObject(text)) return {}
  const { format, ...cleaned } = pick(TEXT_FIELDS, text)
  return {
    text: { ...cleaned, ...(isObject(format) ? { format: pick(FORMAT_FIELDS, format) } : {}) },
  }
}

function pick(fields: ReadonlySet<string>, from: JsonObject, withNulls = false): JsonObject {
  const picked: JsonObject = {}
  for (const field of fields)
    if (withNulls ? from[field] !== undefined : isGiven(from[field])) picked[field] = from[field]
  return picked
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/**
 * The fields of a Responses request that reach an upstream that speaks this format. A field on no list is left out,
 * because it may be billed at a price that the catalog does not have, or stores something: hosted tools other than the
 * search of the web, `background`, `conversation`, `prompt`, `context_management`. The gateway itself writes `model`,
 * `max_output_tokens`, `max_tool_calls`, `stream`, `store`, `include` and `service_tier`.
 */
const set = (...names: string[]): ReadonlySet<string> => new Set(names)

export const PLAIN_FIELDS = set(
  'instructions',
  'temperature',
  'top_p',
  'parallel_tool_calls',
  'prompt_cache_key',
  'safety_identifier',
  'user',
)
export const REASONING_FIELDS = set('effort', 'summary')
export const TEXT_FIELDS = set('format', 'verbosity')
const FORMAT_FIELDS = set('type', 'name', 'description', 'schema', 'strict')

/** The fields of each type of item. Ids are left out: nothing is stored, so no id leads anywhere. */
export const ITEM_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['message', set('type', 'role', 'content', 'phase')],
  ['function_call', set('type', 'call_id', 'name', 'arguments')],
  ['function_call_output', set('type', 'call_id', 'output')],
  ['custom_tool_call', set('type', 'call_id', 'name', 'input')],
  ['custom_tool_call_output', set('type', 'call_id', 'output')],
  ['reasoning', set('type', 'summary', 'encrypted_content')],
])
/**
 * The fields of an item of a search, which is sent where the search itself is sent: without it, the item says nothing.
 */
const SEARCH_ITEM_FIELDS = set('type', 'status', 'action')
export const PART_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['input_text', set('type', 'text')],
  ['output_text', set('type', 'text')],
  ['summary_text', set('type', 'text')],
  ['refusal', set('type', 'refusal')],
  ['input_image', set('type', 'image_url', 'detail')],
  ['input_file', set('type', 'file_data', 'filename')],
])
/** The details of images that are sent; others may make an image larger than the catalog's bound. */
const IMAGE_DETAILS = set('auto', 'low', 'high')

export const TOOL_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['function', set('type', 'name', 'description', 'parameters', 'strict')],
  ['custom', set('type', 'name', 'description', 'format')],
])
export const SEARCH_TOOL_FIELDS = set(
  'filters',
  'user_location',
  'search_context_size',
  'external_web_access',
)

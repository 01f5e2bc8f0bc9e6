/** Writes a Messages request for an upstream that speaks this format, as its client wrote it, limited to lists of fields. */
import { isObject } from '../../../../platform/lib/is-object.ts'
import type {
  ChatContent,
  InlinedDocument,
  JsonObject,
  SearchRounds,
  TranslationReason,
} from '../../contract.ts'
import { describeClientTool, isWebSearchTool } from '../../client-tools.ts'
import { inlinedDocument, isTextType } from '../../inline-documents.ts'
import { type AiSdkOptions, modelFormat, claudeCapabilities } from '../ai-sdk-options.ts'
import {
  BLOCK_FIELDS,
  CLEAR_AT,
  CLIENT_TOOLS,
  CONTEXT_MANAGEMENT,
  DEFERRED_TOOLS,
  DISPLAY_UPDATES,
  EDIT_FIELDS,
  EFFORT_OF_TURN,
  FLAGS,
  INNER_BLOCKS,
  PLAIN_FIELDS,
  SEARCH_BLOCK_FIELDS,
  SEARCH_RESULT_FIELDS,
  SEARCH_TOOL,
  SEARCH_TOOL_FIELDS,
  SOURCE_FIELDS,
  SOURCES,
  TAKES_SYSTEM,
  THINKING_FIELDS,
  TOOL_CHANGES,
  TOOL_CHOICE_FIELDS,
  TOOL_FIELDS,
} from './message-fields.ts'
import { placeInstructions, toBlocks } from './place-instructions.ts'

export interface NativeMessages {
  /** The value of `anthropic-beta`; undefined without a flag. */
  readonly flags: string | undefined
  /** The body with the fields of `OF_PACKAGE` in this head. */
  write(head: JsonObject): string
  /** The bytes of that body without the data of images. */
  measure(head: JsonObject): number
}

/** The fields that only the package knows; `max_tokens` is at most the limit that the hold covers. */
const OF_PACKAGE = ['model', 'anthropic_version', 'max_tokens', 'stream'] as const
/**
 * What the provider adds for a tool that it describes: 245 tokens for a shell, 700 for an editor, 735 for a computer and
 * up to 499 for the instructions beside it, by its documentation of prices.
 */
const CLIENT_TOOL_TOKENS = 2_048
/** The least budget of thinking, which must be below the output limit. */
const BUDGET_TOKENS_MIN = 1_024

/**
 * Writes a request in the Messages format. Returns undefined if it must be translated, because this upstream or model
 * does not take it as it is.
 */
export function writeNativeMessages(
  content: ChatContent,
  kind: AiSdkOptions['kind'],
  modelId: string,
): NativeMessages | undefined {
  const { native } = content
  if (native?.format !== 'messages' || modelFormat(kind, modelId) !== 'anthropic') return undefined
  const known = FLAGS[kind] ?? new Set<string>()
  const flags = native.flags.filter((flag) => known.has(flag))
  const reason = whyTranslated(content, native.body, kind, modelId)
  if (reason !== undefined) {
    content.onTranslated?.(reason)
    return undefined
  }
  // Only there does the usage count searches: elsewhere they would be free.
  const offered = kind === 'anthropic' ? content : { ...content, webSearchesMax: 0 }
  const headOf = (given: JsonObject): string =>
    JSON.stringify(writeHead(content, native.body, flags, given))
  const takesSystem = kind === 'anthropic' && TAKES_SYSTEM.test(modelId)
  const rest = (): Rest => restOf(offered, { kind, flags, takesSystem })
  return {
    flags: flags.length === 0 ? undefined : flags.join(','),
    // Messages are always there.
    write: (given) => `${headOf(given).slice(0, -1)},${rest().text.slice(1)}`,
    measure: (given) => Buffer.byteLength(headOf(given)) - 1 + rest().bytes,
  }
}

/** What a body depends on beside its request. */
interface Target {
  readonly kind: AiSdkOptions['kind']
  /** Those of the request that this kind knows. */
  readonly flags: readonly string[]
  /** The model takes instructions in the middle of a conversation. */
  readonly takesSystem: boolean
}

/** The body without its head, and what it was written from. */
interface Rest extends Omit<Target, 'flags'> {
  readonly native: ChatContent['native']
  readonly cachesForAnHour: boolean
  readonly webSearchesMax: number
  readonly text: string
  /** What counts of it for the hold, without its first bracket. */
  readonly bytes: number
}

/** What the bytes of a body count too much or too little for its tokens. */
interface Counted {
  /** Base64 characters of images, which are billed by the image. */
  imageBytes: number
  /** What the provider adds to the prompt without its being in the body. */
  addedBytes: number
}

/** Each request is serialized once, before the hold; attempts differ in their heads alone. */
function restOf(content: ChatContent, target: Target): Rest {
  const { native, cachesForAnHour, webSearchesMax, memo } = content
  const { kind, takesSystem } = target
  const known = memo.writtenNatively as Rest | undefined
  const isKnown =
    known?.native === native &&
    known?.kind === kind &&
    known.takesSystem === takesSystem &&
    known.cachesForAnHour === cachesForAnHour &&
    known.webSearchesMax === webSearchesMax
  if (isKnown) return known
  const counted: Counted = { imageBytes: 0, addedBytes: 0 }
  const body = (native as NonNullable<ChatContent['native']>).body
  const text = JSON.stringify(writeFields(content, body, target, counted))
  const bytes = Buffer.byteLength(text) - counted.imageBytes + counted.addedBytes
  const rest: Rest = { native, kind, takesSystem, cachesForAnHour, webSearchesMax, text, bytes }
  memo.writtenNatively = rest
  return rest
}

/**
 * The provider runs the model at most so often for one request with tools of its own. `max_uses` does not bound it: a use
 * beyond it is answered with an error, after which the model runs again. Each time it may write up to `max_tokens`.
 */
const ROUNDS_MAX = 10

/** Only the provider itself is known to bill searches by use. */
export function searchRoundsOfMessage(
  content: ChatContent,
  kind: AiSdkOptions['kind'],
): SearchRounds | undefined {
  if (content.webSearchesMax === 0 || kind !== 'anthropic') return undefined
  if (!writeNativeMessages(content, kind, content.model)) return undefined
  return { prompts: ROUNDS_MAX, outputs: ROUNDS_MAX }
}

/**
 * Why the model does not take what the client wrote for another one; undefined if it does. It must not depend on the
 * output limit.
 */
function whyTranslated(
  { body: chat, hasAudio, hasImageAddresses }: ChatContent,
  body: JsonObject,
  kind: AiSdkOptions['kind'],
  modelId: string,
): TranslationReason | undefined {
  const isVertex = kind === 'google-vertex'
  if (hasAudio) return 'audio'
  // Vertex opens no addresses; the translation downloads the images.
  if (hasImageAddresses && isVertex) return 'image_address'
  const model = claudeCapabilities(modelId)
  const hasSampling = isGiven(body.temperature) || isGiven(body.top_p) || isGiven(body.top_k)
  if (hasSampling && model.rejectsSamplingParameters) return 'sampling'
  if (chat.response_format !== undefined && (isVertex || !model.supportsStructuredOutput))
    return 'schema'
  const type = isObject(body.thinking) ? body.thinking.type : undefined
  const isRefused =
    (type === 'adaptive' && !model.supportsAdaptiveThinking) ||
    (type === 'enabled' && model.rejectsBudgetThinking) ||
    (type === 'disabled' && model.rejectsThinkingDisabled)
  return isRefused ? 'thinking' : undefined
}

/** The fields that depend on the output limit. */
function writeHead(
  content: ChatContent,
  body: JsonObject,
  flags: readonly string[],
  given: JsonObject,
): JsonObject {
  const head = pick(OF_PACKAGE, given)
  const thinking = toThinking(content, body.thinking, Number(head.max_tokens))
  if (thinking?.display === 'updates' && !flags.includes(DISPLAY_UPDATES)) delete thinking.display
  if (thinking) head.thinking = thinking
  if (flags.includes(CONTEXT_MANAGEMENT))
    head.context_management = toContextManagement(body.context_management, thinking)
  return head
}

function writeFields(
  content: ChatContent,
  body: JsonObject,
  target: Target,
  counted: Counted,
): JsonObject {
  const clean = createCleaner(content, body, target, counted)
  const fields: JsonObject = clean.cached(body)
  fields.metadata = toMetadata(body.metadata)
  copyGiven(PLAIN_FIELDS, body, fields)
  fields.output_config = toOutputConfig(body)
  const tools = clean.tools(body.tools)
  if (tools.length > 0) {
    fields.tools = tools
    fields.tool_choice = toToolChoice(body.tool_choice, tools)
  }
  const cleaned = (body.messages as JsonObject[]).flatMap((message) => {
    const sent = clean.content(message.content, message.role as string)
    const controls = message.role === 'system' ? toControls(message, target.flags) : {}
    const isEmpty = sent.length === 0 && Object.keys(controls).length === 0
    return isEmpty ? [] : [{ role: message.role, content: sent, ...controls }]
  })
  const { opening, messages } = placeInstructions(cleaned, target.takesSystem)
  const system = isGiven(body.system) ? clean.content(body.system, 'system') : []
  if (opening.length > 0) fields.system = [...toBlocks(system), ...opening]
  else if (isGiven(body.system)) fields.system = system
  fields.messages = messages
  return fields
}

/** Of a message of the role `system`: the fields that say how it counts, each with its flag. */
function toControls(
  { output_config: config, clear_at: clearAt }: JsonObject,
  flags: readonly string[],
): JsonObject {
  const effort = isObject(config) ? config.effort : undefined
  const hasEffort = typeof effort === 'string' && EFFORT_OF_TURN.some((one) => flags.includes(one))
  return {
    ...(hasEffort ? { output_config: { effort } } : {}),
    ...(typeof clearAt === 'string' && flags.includes(CLEAR_AT) ? { clear_at: clearAt } : {}),
  }
}

/** Counts what it keeps. */
function createCleaner(
  chat: Pick<ChatContent, 'cachesForAnHour' | 'webSearchesMax' | 'documents'>,
  body: JsonObject,
  { kind, flags }: Target,
  counted: Counted,
) {
  const { cachesForAnHour, webSearchesMax } = chat
  const defersTools = flags.includes(DEFERRED_TOOLS)
  const changesTools = flags.includes(TOOL_CHANGES)
  /** The bytes of the client's tools, by their names. */
  const toolBytes = new Map<unknown, number>()

  /** A reference puts the description of its tool into the prompt. */
  function countReference(name: unknown): void {
    if (toolBytes.size === 0)
      for (const tool of listOf(body.tools))
        toolBytes.set(tool.name, Buffer.byteLength(JSON.stringify(tool)))
    counted.addedBytes += toolBytes.get(name) ?? 0
  }

  /** Reduced to the fields that have a price. */
  function cached({ cache_control: control }: JsonObject): JsonObject {
    if (!isObject(control) || control.type !== 'ephemeral') return {}
    const life = cachesForAnHour && control.ttl === '1h' ? { ttl: '1h' } : {}
    return { cache_control: { type: 'ephemeral', ...life } }
  }

  function blocks(
    list: readonly JsonObject[],
    known: ReadonlyMap<string, ReadonlySet<string>>,
    isHere: (type: string) => boolean,
  ): JsonObject[] {
    return list.flatMap((block) => {
      const fields = known.get(block.type as string)
      if (!fields || !isHere(block.type as string) || isUnsigned(block) || isOtherUse(block))
        return []
      if (block.type === 'tool_reference') {
        if (!defersTools) return []
        countReference(block.tool_name)
      }
      const cleaned = pick(fields, block)
      if (block.type === 'tool_addition' || block.type === 'tool_removal') {
        const { type, name } = isObject(block.tool) ? block.tool : {}
        if (!changesTools || type !== 'tool_reference') return []
        countReference(name)
        return [{ ...cleaned, tool: { type, name } }]
      }
      // Only fields of the list: an image anywhere else is in no translation, and so in no hold.
      if (isObject(cleaned.source)) cleaned.source = source(block, cleaned.source, known)
      if (block.type === 'web_search_tool_result') cleaned.content = found(cleaned.content)
      else if (Array.isArray(cleaned.content))
        cleaned.content = inner(block, cleaned.content, known)
      return [{ ...cleaned, ...(isThinking(block) ? {} : cached(block)) }]
    })
  }

  function inner(
    { type }: JsonObject,
    content: unknown[],
    known: ReadonlyMap<string, ReadonlySet<string>>,
  ): JsonObject[] {
    return blocks(
      content.filter(isObject),
      known,
      (each) => INNER_BLOCKS[type as string]?.has(each) ?? false,
    )
  }

  /** The results of a search, or its error. */
  function found(content: unknown): unknown {
    if (Array.isArray(content))
      return content.filter(isObject).map((each) => pick(SEARCH_RESULT_FIELDS, each))
    return isObject(content) ? pick(SEARCH_RESULT_FIELDS, content) : []
  }

  function source(
    { type }: JsonObject,
    given: JsonObject,
    known: ReadonlyMap<string, ReadonlySet<string>>,
  ): JsonObject {
    if (type === 'document' && given.type === 'url')
      return documentSource(inlinedDocument(chat, given.url as string))
    const isOfBlock = SOURCES[type as string]?.has(given.type as string) ?? false
    const fields = isOfBlock ? SOURCE_FIELDS.get(given.type as string) : undefined
    const cleaned = pick(fields ?? [], given)
    if (type === 'image' && typeof cleaned.data === 'string')
      counted.imageBytes += cleaned.data.length
    // The address as our parser reads it, like the one that was checked.
    if (typeof cleaned.url === 'string') cleaned.url = new URL(cleaned.url).href
    if (cleaned.media_type === 'image/jpg') cleaned.media_type = 'image/jpeg'
    if (Array.isArray(cleaned.content))
      cleaned.content = inner({ type: 'document' }, cleaned.content, known)
    return cleaned
  }

  return {
    cached,
    content(given: unknown, role: string): string | JsonObject[] {
      if (typeof given === 'string') return given
      const searched = role === 'assistant' && webSearchesMax > 0
      const known = searched
        ? SEARCH_BLOCK_FIELDS
        : (BLOCK_FIELDS[role] ?? new Map<string, ReadonlySet<string>>())
      return blocks(given as JsonObject[], known, () => true)
    },
    /**
     * Without the tools that the provider would run. The search of the web is sent if the hold covers it. A tool of the
     * client that the provider describes adds tokens of its own; without its flag, and elsewhere, we describe it.
     */
    tools(given: unknown): JsonObject[] {
      let hasSearch = false
      return listOf(given).flatMap((tool): JsonObject[] => {
        if (isWebSearchTool(tool)) {
          if (webSearchesMax === 0 || hasSearch) return []
          hasSearch = true
          const limits = { ...SEARCH_TOOL, max_uses: webSearchesMax }
          return [{ ...limits, ...pick(SEARCH_TOOL_FIELDS, tool), ...cached(tool) }]
        }
        const own = kind === 'anthropic' ? CLIENT_TOOLS.get(tool.type as string) : undefined
        if (own && (own.flag === undefined || flags.includes(own.flag))) {
          counted.addedBytes += CLIENT_TOOL_TOKENS
          return [{ ...pick(own.fields, tool), ...cached(tool) }]
        }
        const known = describeClientTool(tool)
        if (known) {
          const { description, parameters } = known
          return [{ name: tool.name, description, input_schema: parameters, ...cached(tool) }]
        }
        const deferred = defersTools && tool.defer_loading === true ? { defer_loading: true } : {}
        const isOfClient = !isGiven(tool.type) || tool.type === 'custom'
        return isOfClient ? [{ ...pick(TOOL_FIELDS, tool), ...deferred, ...cached(tool) }] : []
      })
    },
  }
}

/** As a client would have sent it: the format has texts as such, and everything else as bytes. */
function documentSource({ type, url }: InlinedDocument): JsonObject {
  const data = url.slice(url.indexOf(',') + 1)
  return isTextType(type)
    ? { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString() }
    : { type: 'base64', media_type: type, data }
}

/** A use of a tool that is not sent. */
function isOtherUse({ type, name }: JsonObject): boolean {
  return type === 'server_tool_use' && name !== SEARCH_TOOL.name
}

function isThinking({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** No upstream accepts thinking back without its signature. */
function isUnsigned({ type, signature }: JsonObject): boolean {
  return type === 'thinking' && (typeof signature !== 'string' || signature === '')
}

/** The budget is within the limit, which may be lower than the client's. */
function toThinking(
  { body: chat }: ChatContent,
  thinking: unknown,
  limit: number,
): JsonObject | undefined {
  if (!isObject(thinking)) return undefined
  const cleaned = pick(THINKING_FIELDS, thinking)
  if (cleaned.type === 'disabled') return cleaned
  // The gateway takes the effort away from models that cannot reason.
  const isAsked = isGiven(chat.reasoning_effort)
  if (!isAsked || (cleaned.type !== 'enabled' && cleaned.type !== 'adaptive')) return undefined
  if (cleaned.type === 'adaptive') return cleaned
  const { budget_tokens: asked } = cleaned
  const budget = typeof asked === 'number' ? Math.min(asked, limit - 1) : 0
  return budget >= BUDGET_TOKENS_MIN ? { ...cleaned, budget_tokens: budget } : undefined
}

function toOutputConfig({
  output_config: config,
  output_format: former,
}: JsonObject): JsonObject | undefined {
  if (!isObject(config) && !isObject(former)) return undefined
  const { effort, format = former } = isObject(config) ? config : {}
  const cleaned = {
    ...(typeof effort === 'string' ? { effort } : {}),
    ...(isObject(format) ? { format: pick(new Set(['type', 'schema']), format) } : {}),
  }
  return Object.keys(cleaned).length > 0 ? cleaned : undefined
}

function toMetadata(metadata: unknown): JsonObject | undefined {
  const id = isObject(metadata) ? metadata.user_id : undefined
  return typeof id === 'string' ? { user_id: id } : undefined
}

function toContextManagement(
  given: unknown,
  thinking: JsonObject | undefined,
): JsonObject | undefined {
  const list = isObject(given) && Array.isArray(given.edits) ? (given.edits as unknown[]) : []
  const edits = list.filter(isObject).flatMap((edit) => {
    const fields = EDIT_FIELDS.get(edit.type as string)
    // Without thinking there is none to clear, and the upstream refuses it.
    const isIdle = edit.type === 'clear_thinking_20251015' && thinking === undefined
    return fields === undefined || isIdle ? [] : [pick(fields, edit)]
  })
  return edits.length > 0 ? { edits } : undefined
}

/** A choice of a tool that was left out is left out with it. */
function toToolChoice(choice: unknown, tools: readonly JsonObject[]): JsonObject | undefined {
  if (!isObject(choice)) return undefined
  const isThere = choice.type !== 'tool' || tools.some(({ name }) => name === choice.name)
  return isThere ? pick(TOOL_CHOICE_FIELDS, choice) : undefined
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? (value as JsonObject[]) : []
}

function pick(fields: Iterable<string>, from: JsonObject): JsonObject {
  const picked: JsonObject = {}
  copyGiven(fields, from, picked)
  return picked
}

function copyGiven(fields: Iterable<string>, from: JsonObject, to: JsonObject): void {
  for (const field of fields) {
    const value = from[field]
    if (isGiven(value)) to[field] = value
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

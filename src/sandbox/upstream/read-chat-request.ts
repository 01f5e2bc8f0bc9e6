import {
  BadRequest,
  invalidType,
  missing,
  readFlag,
  readModelName,
  readNumber,
  type JsonObject,
  parseJsonBody,
} from './read-field.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { listTurns, readMessages, type ChatMessage, lastResults } from './read-messages.ts'
import { lastUserText } from './write-text.ts'

/**
 * Searches of the web, of which nothing is true. The user writes them down, one in each line: `pesquise preço do dólar`.
 * As with providers, the model reads the whole prompt again after each, with what was found until then.
 */
export interface WebSearch {
  readonly query: string
  readonly url: string
  readonly title: string
  /** What the model reads. */
  readonly content: string
}

const LINE = /^[ \t]*pesquise (\S.{0,199})$/gim
/** About a thousand tokens. */
const PAGE = 'A catraca gira quando há saldo, e sem saldo ninguém passa. '.repeat(70)

/** Returns the search among the tools of a request in the Responses or Messages format; undefined without one. */
export function findSearchTool(tools: unknown): JsonObject | undefined {
  const list = Array.isArray(tools) ? tools.filter(isObject) : []
  return list.find(isSearchTool)
}

export function isSearchTool({ type }: JsonObject): boolean {
  return typeof type === 'string' && type.startsWith('web_search')
}

/** Returns the first searches that the user planned; without a limit, all of them. */
export function planSearches(
  turns: readonly ChatMessage[],
  tool: JsonObject | undefined,
  limit: unknown,
): WebSearch[] {
  if (tool === undefined || lastResults(turns).length > 0) return []
  const queries = Array.from(lastUserText(turns).matchAll(LINE), ([, query = '']) => query)
  return queries.slice(0, typeof limit === 'number' ? limit : undefined).map((query, index) => ({
    query,
    url: `https://example.com/pesquisa/${index + 1}`,
    title: `Sobre ${query}`,
    content: `${query}: ${PAGE}`,
  }))
}

export interface ChatRequest {
  readonly modelName: string
  readonly messages: readonly ChatMessage[]
  /** What the answer follows (`listTurns`). */
  readonly turns: readonly ChatMessage[]
  readonly isStream: boolean
  readonly includesUsage: boolean
  readonly choiceCount: number
  readonly outputTokensMax: number | undefined
  readonly stops: readonly string[]
  readonly format: AnswerFormat
  /** How many other tokens are listed beside each token's probability; undefined if none is asked for. */
  readonly topLogprobs: number | undefined
  /** The tools that may be called now; empty if `tool_choice` is `none`. */
  readonly tools: readonly Tool[]
  readonly callsInParallel: boolean
  /** Parts of the prompt that are not messages: the tools and the answer's schema, as JSON. */
  readonly promptExtras: string
  /** The searches of the web that the answer begins with; none in chat completions. */
  readonly searches: readonly WebSearch[]
}

export type AnswerFormat =
  | { readonly kind: 'text' }
  | { readonly kind: 'json_object' }
  | { readonly kind: 'json_schema'; readonly schema: unknown }

export interface Tool {
  readonly name: string
  readonly parameters: unknown
  /** Takes a text instead of arguments. */
  readonly isCustom?: boolean
}

/** Reads a chat request. Throws `BadRequest` with OpenAI's wording. */
export function readChatRequest(text: string): ChatRequest {
  const body = parseJsonBody(text)
  const modelName = readModelName(body.model)
  checkSamplingFields(body)
  const limit = readNumber(body, 'max_tokens', { minimum: 1, isInteger: true })
  const newerLimit = readNumber(body, 'max_completion_tokens', { minimum: 1, isInteger: true })
  const isStream = readFlag(body, 'stream') ?? false
  const messages = readMessages(body.messages)
  return {
    modelName,
    messages,
    turns: listTurns(messages),
    isStream,
    includesUsage: readIncludesUsage(body.stream_options, isStream),
    choiceCount: readNumber(body, 'n', { minimum: 1, maximum: 128, isInteger: true }) ?? 1,
    outputTokensMax: newerLimit ?? limit,
    stops: readStops(body.stop),
    format: readFormat(body.response_format),
    topLogprobs: readTopLogprobs(body),
    tools: chooseTools(readTools(body.tools), body.tool_choice),
    callsInParallel: readFlag(body, 'parallel_tool_calls') ?? true,
    promptExtras: [body.tools, body.response_format]
      .map((extra) => (isObject(extra) || Array.isArray(extra) ? JSON.stringify(extra) : ''))
      .join(''),
    searches: [],
  }
}

/** The sandbox does not sample, but it refuses values that a provider would refuse. */
function checkSamplingFields(body: JsonObject): void {
  readNumber(body, 'temperature', { minimum: 0, maximum: 2 })
  readNumber(body, 'top_p', { minimum: 0, maximum: 1 })
  readNumber(body, 'presence_penalty', { minimum: -2, maximum: 2 })
  readNumber(body, 'frequency_penalty', { minimum: -2, maximum: 2 })
  readNumber(body, 'seed', { isInteger: true })
}

function readTopLogprobs(body: JsonObject): number | undefined {
  const isWanted = readFlag(body, 'logprobs') ?? false
  const top = readNumber(body, 'top_logprobs', { minimum: 0, maximum: 20, isInteger: true })
  if (isWanted) return top ?? 0
  if (top === undefined || top === 0) return undefined
  throw new BadRequest(
    "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
    'top_logprobs',
    null,
  )
}

function readIncludesUsage(options: unknown, isStream: boolean): boolean {
  if (options === undefined || options === null) return false
  if (!isStream) {
    throw new BadRequest(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
      null,
    )
  }
  if (!isObject(options)) throw invalidType('stream_options', 'an object', options)
  return readFlag(options, 'include_usage') ?? false
}

function readStops(stop: unknown): string[] {
  if (stop === undefined || stop === null) return []
  const stops = Array.isArray(stop) ? stop : [stop]
  if (!stops.every((one) => typeof one === 'string')) {
    throw invalidType('stop', 'a string or an array of strings', stop)
  }
  if (stops.length > 4) {
    throw new BadRequest(
      `Invalid 'stop': array too long. Expected an array with maximum length 4, ` +
        `but got an array with length ${stops.length} instead.`,
      'stop',
      'array_above_max_length',
    )
  }
  return stops.filter((one) => one !== '')
}

function readFormat(format: unknown): AnswerFormat {
  if (format === undefined || format === null) return { kind: 'text' }
  if (!isObject(format)) throw invalidType('response_format', 'an object', format)
  if (format.type === 'text') return { kind: 'text' }
  if (format.type === 'json_object') return { kind: 'json_object' }
  if (format.type !== 'json_schema') {
    throw new BadRequest(
      `Invalid value: ${JSON.stringify(format.type)}. ` +
        `Supported values are: 'json_object', 'json_schema', and 'text'.`,
      'response_format.type',
      'invalid_value',
    )
  }
  const described = format.json_schema
  if (!isObject(described) || typeof described.name !== 'string') {
    const param = isObject(described)
      ? 'response_format.json_schema.name'
      : 'response_format.json_schema'
    throw missing(param)
  }
  return { kind: 'json_schema', schema: described.schema ?? { type: 'object' } }
}

function readTools(tools: unknown): Tool[] {
  if (tools === undefined || tools === null) return []
  if (!Array.isArray(tools)) throw invalidType('tools', 'an array of objects', tools)
  return tools.map((tool: unknown, index) => {
    const described = isObject(tool) ? (tool.function ?? tool.custom) : undefined
    if (!isObject(tool) || (tool.type !== 'function' && tool.type !== 'custom')) {
      throw new BadRequest(
        `Invalid value for 'tools[${index}].type'. Supported values are: 'function' and 'custom'.`,
        `tools[${index}].type`,
        'invalid_value',
      )
    }
    if (!isObject(described) || typeof described.name !== 'string' || described.name === '') {
      const param = `tools[${index}].${tool.type}.name`
      throw missing(param)
    }
    const isCustom = tool.type === 'custom'
    return { name: described.name, parameters: described.parameters ?? {}, isCustom }
  })
}

function chooseTools(tools: Tool[], choice: unknown): Tool[] {
  if (choice === undefined || choice === null || choice === 'auto') return tools
  if (choice === 'none') return []
  if (tools.length === 0) {
    throw new BadRequest(
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      'tool_choice',
      null,
    )
  }
  if (choice === 'required') return tools
  const named = new Set(namesIn(choice))
  const chosen = tools.filter(({ name }) => named.has(name))
  if (chosen.length === 0) {
    throw new BadRequest(
      "Invalid value for 'tool_choice': it must be 'none', 'auto', 'required' or name a function " +
        "of 'tools'.",
      'tool_choice',
      'invalid_value',
    )
  }
  return chosen
}

/** Of one tool, or of those that are allowed. */
function namesIn(choice: unknown): unknown[] {
  if (!isObject(choice)) return []
  const { allowed_tools: allowed } = choice
  if (isObject(allowed) && Array.isArray(allowed.tools)) return allowed.tools.flatMap(namesIn)
  const one = choice.function ?? choice.custom
  return isObject(one) ? [one.name] : []
}

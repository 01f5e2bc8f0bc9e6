/**
 * Anthropic's Messages: requests are read as chats. As with the provider, unknown fields are refused, and thinking that
 * comes back must have its own signature.
 */
import { createHash } from 'node:crypto'
import { randomText } from '../../platform/lib/ids.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { BadRequest, missing, type JsonObject, parseJsonBody } from './read-field.ts'
import type { Choice } from './compose-answer.ts'
import {
  readChatRequest,
  type ChatRequest,
  findSearchTool,
  isSearchTool,
  planSearches,
  type WebSearch,
} from './read-chat-request.ts'
import type { AnswerEvent } from './render-answer.ts'
import type { Rendered, SandboxFormat } from './sandbox-format.ts'

export interface MessagesRequest extends ChatRequest {
  /** The texts that the client marks to be cached, by their lifetime. */
  readonly marked: { readonly short: readonly string[]; readonly hour: readonly string[] }
}

const FIELDS: ReadonlySet<string> = new Set(
  (
    'model max_tokens messages system tools tool_choice stream thinking temperature top_p top_k stop_sequences ' +
    'metadata output_config output_format context_management cache_control'
  ).split(' '),
)
const STOP_REASONS = { stop: 'end_turn', length: 'max_tokens', tool_calls: 'tool_use' } as const

export const messagesFormat: SandboxFormat<MessagesRequest> = {
  read(text) {
    const body = parseJsonBody(text)
    const unknown = Object.keys(body).find((field) => !FIELDS.has(field))
    if (unknown !== undefined) throw refused(`${unknown}: Extra inputs are not permitted`, unknown)
    if (body.max_tokens === undefined) throw missing('max_tokens')
    const marked = { short: [] as string[], hour: [] as string[] }
    const chat = {
      model: body.model,
      stream: body.stream,
      max_tokens: body.max_tokens,
      temperature: body.temperature,
      top_p: body.top_p,
      stop: body.stop_sequences,
      messages: [...toInstructions(body.system, marked), ...toMessages(body.messages, marked)],
      ...toTools(body),
      // `output_format` is the name of before.
      ...toFormat(isObject(body.output_config) ? body.output_config.format : undefined),
      ...toFormat(body.output_format),
    }
    const request = readChatRequest(JSON.stringify(chat))
    const tool = findSearchTool(body.tools)
    return { ...request, marked, searches: planSearches(request.turns, tool, tool?.max_uses) }
  },
  reportsUsage: () => true,
  renderBody: (rendered) =>
    JSON.stringify({
      ...head(rendered),
      content: blocksOf(rendered).map(({ block }) => block),
      stop_reason: STOP_REASONS[(rendered.answer.choices[0] as Choice).finishReason],
      stop_sequence: null,
      usage: usageOf(rendered),
    }),
  renderEvents,
  ending: '',
}

function* renderEvents(rendered: Rendered<MessagesRequest>): Generator<AnswerEvent> {
  const choice = rendered.answer.choices[0] as Choice
  const usage = usageOf(rendered)
  const message = { ...head(rendered), content: [], stop_reason: null, stop_sequence: null }
  const begun = usage === undefined ? { input_tokens: 0, output_tokens: 0 } : usage
  yield event({
    type: 'message_start',
    message: { ...message, usage: { ...begun, output_tokens: 1 } },
  })
  yield event({ type: 'ping' })
  for (const [index, { opened, deltas }] of blocksOf(rendered).entries()) {
    yield event({ type: 'content_block_start', index, content_block: opened })
    for (const { delta, tokens } of deltas)
      yield event({ type: 'content_block_delta', index, delta }, tokens)
    yield event({ type: 'content_block_stop', index })
  }
  const delta = { stop_reason: STOP_REASONS[choice.finishReason], stop_sequence: null }
  yield event({ type: 'message_delta', delta, usage: usage ?? {} })
  yield event({ type: 'message_stop' })
}

function event(data: JsonObject & { type: string }, tokens = 0): AnswerEvent {
  return { name: data.type, data: JSON.stringify(data), tokens }
}

function head({ request }: Rendered<MessagesRequest>): JsonObject {
  return {
    id: `msg_${randomText(24)}`,
    type: 'message',
    role: 'assistant',
    model: request.modelName,
  }
}

interface Block {
  readonly block: JsonObject
  readonly opened: JsonObject
  readonly deltas: readonly { readonly delta: JsonObject; readonly tokens: number }[]
}

function blocksOf({ request, answer }: Rendered<MessagesRequest>): Block[] {
  const { reasoning, content, toolCalls } = answer.choices[0] as Choice
  const blocks: Block[] = []
  if (reasoning !== undefined) {
    const signature = signatureOf(reasoning.text)
    blocks.push({
      block: { type: 'thinking', thinking: reasoning.text, signature },
      opened: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...reasoning.pieces.map(({ text, tokens }) => ({
          delta: { type: 'thinking_delta', thinking: text },
          tokens,
        })),
        { delta: { type: 'signature_delta', signature }, tokens: 0 },
      ],
    })
  }
  const { searches } = request
  blocks.push(...searches.flatMap(searchBlocks))
  if (content !== undefined) {
    const citations = searches.map(citationOf)
    blocks.push({
      block: { type: 'text', text: content.text, ...(citations.length > 0 ? { citations } : {}) },
      opened: { type: 'text', text: '' },
      deltas: [
        ...citations.map((citation) => ({
          delta: { type: 'citations_delta', citation },
          tokens: 0,
        })),
        ...content.pieces.map(({ text, tokens }) => ({
          delta: { type: 'text_delta', text },
          tokens,
        })),
      ],
    })
  }
  for (const { id, name, nameTokens, arguments: made } of toolCalls) {
    const use = { type: 'tool_use', id: id.replace(/^call_/, 'toolu_'), name }
    blocks.push({
      block: { ...use, input: parsed(made.text) },
      opened: { ...use, input: {} },
      deltas: made.pieces.map(({ text, tokens }, index) => ({
        delta: { type: 'input_json_delta', partial_json: text },
        tokens: index === 0 ? tokens + nameTokens : tokens,
      })),
    })
  }
  return blocks
}

/** A use, and what was found. */
function searchBlocks({ query, url, title, content }: WebSearch): Block[] {
  const use = { type: 'server_tool_use', id: `srvtoolu_${randomText(24)}`, name: 'web_search' }
  const found = { type: 'web_search_result', url, title, page_age: null }
  const result = {
    type: 'web_search_tool_result',
    tool_use_id: use.id,
    content: [{ ...found, encrypted_content: sealed(content) }],
  }
  const input = { query }
  const inputDelta = { type: 'input_json_delta', partial_json: JSON.stringify(input) }
  return [
    {
      block: { ...use, input },
      opened: { ...use, input: {} },
      deltas: [{ delta: inputDelta, tokens: 0 }],
    },
    { block: result, opened: result, deltas: [] },
  ]
}

function citationOf({ url, title, content }: WebSearch): JsonObject {
  const cited_text = content.slice(0, 80)
  return {
    type: 'web_search_result_location',
    url,
    title,
    encrypted_index: sealed(cited_text),
    cited_text,
  }
}

function sealed(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** A call that the limit cut off has no whole arguments. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** In this format, what is read from the cache and written to it is not part of the input. */
function usageOf({ request, usage, tokenizer }: Rendered<MessagesRequest>): JsonObject | undefined {
  if (usage === undefined) return undefined
  const { cached_tokens: cached } = usage.prompt_tokens_details
  const count = (texts: readonly string[]): number =>
    texts.reduce((sum, text) => sum + tokenizer.count(text), 0)
  const [short, hour] =
    cached > 0 ? [0, 0] : [count(request.marked.short), count(request.marked.hour)]
  return {
    input_tokens: usage.prompt_tokens - cached - short - hour,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: short + hour,
    cache_creation: { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: hour },
    output_tokens: usage.completion_tokens,
    ...(request.searches.length > 0
      ? { server_tool_use: { web_search_requests: request.searches.length } }
      : {}),
    service_tier: 'standard',
  }
}

export function signatureOf(thinking: string): string {
  return createHash('sha256').update(thinking).digest('base64')
}

function toInstructions(system: unknown, marked: Marked): JsonObject[] {
  if (system === undefined) return []
  return [{ role: 'system', content: textsOf(system, marked, 'system') }]
}

type Marked = { short: string[]; hour: string[] }

function textsOf(content: unknown, marked: Marked, param: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw missing(param)
  return content
    .filter(isObject)
    .map((block) => {
      mark(block, marked)
      return typeof block.text === 'string' ? block.text : ''
    })
    .join('\n')
}

function mark({ cache_control: control, text }: JsonObject, marked: Marked): void {
  if (isObject(control) && typeof text === 'string')
    marked[control.ttl === '1h' ? 'hour' : 'short'].push(text)
}

function toMessages(messages: unknown, marked: Marked): JsonObject[] {
  if (!Array.isArray(messages) || messages.length === 0) throw missing('messages')
  return messages.filter(isObject).flatMap(({ role, content }, index): JsonObject[] => {
    if (typeof content === 'string') return [{ role, content }]
    const path = `messages[${index}].content`
    const blocks = Array.isArray(content) ? content.filter(isObject) : []
    return role === 'assistant' ? [toAnswer(blocks, path)] : toQuestion(blocks, marked)
  })
}

function toQuestion(blocks: readonly JsonObject[], marked: Marked): JsonObject[] {
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map(({ tool_use_id: id, content }) => ({
      role: 'tool',
      tool_call_id: id,
      content: textsOf(content ?? '', marked, 'content'),
    }))
  const parts = blocks.flatMap((block): JsonObject[] => {
    mark(block, marked)
    if (block.type === 'text') return [{ type: 'text', text: block.text }]
    if (block.type === 'image') return [{ type: 'image_url', image_url: { url: 'an image' } }]
    return block.type === 'document' ? [{ type: 'file', file: {} }] : []
  })
  return parts.length > 0 ? [...results, { role: 'user', content: parts }] : results
}

function toAnswer(blocks: readonly JsonObject[], path: string): JsonObject {
  for (const { type, thinking, signature } of blocks)
    if (type === 'thinking' && signature !== signatureOf(String(thinking)))
      throw refused(`${path}: Invalid \`signature\` in \`thinking\` block`, path)
  const texts = blocks.filter(({ type }) => type === 'text')
  const calls = blocks.filter(({ type }) => type === 'tool_use')
  return {
    role: 'assistant',
    content: texts.length > 0 ? texts.map(({ text }) => ({ type: 'text', text })) : null,
    tool_calls: calls.map(({ id, name, input }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    })),
  }
}

function toTools({ tools, tool_choice: choice }: JsonObject): JsonObject {
  const ofClient = Array.isArray(tools)
    ? tools.filter(isObject).filter((tool) => !isSearchTool(tool))
    : []
  if (ofClient.length === 0) return {}
  const { type, name, disable_parallel_tool_use: isSerial } = isObject(choice) ? choice : {}
  const choices: Record<string, unknown> = {
    any: 'required',
    none: 'none',
    tool: { type: 'function', function: { name } },
  }
  return {
    tools: ofClient.map((tool) => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: tool.input_schema },
    })),
    tool_choice: choices[String(type)] ?? 'auto',
    ...(isSerial === true ? { parallel_tool_calls: false } : {}),
  }
}

function toFormat(format: unknown): JsonObject {
  if (!isObject(format)) return {}
  return {
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'output', schema: format.schema },
    },
  }
}

function refused(message: string, param: string): BadRequest {
  return new BadRequest(message, param, 'invalid_request_error')
}

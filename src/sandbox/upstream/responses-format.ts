/**
 * OpenAI's Responses: requests are read as chats. As with the provider, a limit below 16 and reasoning that is not its own
 * are refused.
 */
import { randomText } from '../../platform/lib/ids.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { BadRequest, missing, readNumber, type JsonObject, parseJsonBody } from './read-field.ts'
import type { Choice } from './compose-answer.ts'
import type { Piece } from './open-tokenizer.ts'
import {
  readChatRequest,
  type ChatRequest,
  findSearchTool,
  isSearchTool,
  planSearches,
} from './read-chat-request.ts'
import { type AnswerEvent, describeLogprob } from './render-answer.ts'
import type { Rendered, SandboxFormat } from './sandbox-format.ts'

export interface ResponsesRequest extends ChatRequest {
  /** The names of tools that take free text. */
  readonly custom: ReadonlySet<unknown>
  readonly includesReasoning: boolean
}

const ENCRYPTED = 'encrypted:'

export const responsesFormat: SandboxFormat<ResponsesRequest> = {
  read(text) {
    const body = parseJsonBody(text)
    readNumber(body, 'max_output_tokens', { minimum: 16, isInteger: true })
    const listed = (Array.isArray(body.tools) ? body.tools : []).filter(isObject)
    const tools = listed.filter((tool) => !isSearchTool(tool))
    const included: readonly unknown[] = Array.isArray(body.include) ? body.include : []
    const chat = {
      model: body.model,
      stream: body.stream,
      max_tokens: body.max_output_tokens,
      temperature: body.temperature,
      top_p: body.top_p,
      // Either asks for them.
      logprobs: included.includes('message.output_text.logprobs') || Boolean(body.top_logprobs),
      top_logprobs: body.top_logprobs,
      messages: [...toInstructions(body.instructions), ...toMessages(body.input)],
      ...toTools(tools, body),
      ...toFormat(body.text),
    }
    const request = readChatRequest(JSON.stringify(chat))
    return {
      ...request,
      searches: planSearches(request.turns, findSearchTool(listed), body.max_tool_calls),
      custom: new Set(tools.filter(({ type }) => type === 'custom').map(({ name }) => name)),
      includesReasoning: included.includes('reasoning.encrypted_content'),
    }
  },
  reportsUsage: () => true,
  renderBody: (rendered) => JSON.stringify(responseOf(rendered, itemsOf(rendered))),
  renderEvents,
  ending: '',
}

function* renderEvents(rendered: Rendered<ResponsesRequest>): Generator<AnswerEvent> {
  const items = itemsOf(rendered)
  let sequence = 0
  const event = (type: string, fields: JsonObject, tokens = 0): AnswerEvent => {
    const data = JSON.stringify({ type, sequence_number: sequence, ...fields })
    sequence += 1
    return { name: type, data, tokens }
  }
  const response = { ...responseOf(rendered, []), status: 'in_progress', usage: null }
  yield event('response.created', { response })
  yield event('response.in_progress', { response })
  for (const [index, { item, opened, deltas }] of items.entries()) {
    const at = { item_id: item.id, output_index: index }
    yield event('response.output_item.added', { output_index: index, item: opened })
    for (const { type, fields, tokens } of deltas) yield event(type, { ...at, ...fields }, tokens)
    yield event('response.output_item.done', { output_index: index, item })
  }
  const whole = responseOf(rendered, items)
  yield event(`response.${String(whole.status)}`, { response: whole })
}

function responseOf(
  { request, answer, usage }: Rendered<ResponsesRequest>,
  items: readonly Item[],
): JsonObject {
  const isWhole = (answer.choices[0] as Choice).finishReason !== 'length'
  return {
    id: `resp_${randomText(24)}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: isWhole ? 'completed' : 'incomplete',
    incomplete_details: isWhole ? null : { reason: 'max_output_tokens' },
    error: null,
    model: request.modelName,
    output: items.map(({ item }) => item),
    service_tier: 'default',
    store: false,
    usage: usage && {
      input_tokens: usage.prompt_tokens,
      input_tokens_details: { cached_tokens: usage.prompt_tokens_details.cached_tokens },
      output_tokens: usage.completion_tokens,
      output_tokens_details: {
        reasoning_tokens: usage.completion_tokens_details.reasoning_tokens,
      },
      total_tokens: usage.total_tokens,
    },
  }
}

interface Item {
  readonly item: JsonObject
  readonly opened: JsonObject
  readonly deltas: readonly {
    readonly type: string
    readonly fields: JsonObject
    readonly tokens: number
  }[]
}

function itemsOf({ request, answer }: Rendered<ResponsesRequest>): Item[] {
  const { reasoning, content, toolCalls, finishReason } = answer.choices[0] as Choice
  const status = finishReason === 'length' ? 'incomplete' : 'completed'
  const items: Item[] = []
  if (reasoning !== undefined) {
    const part = { type: 'summary_text', text: reasoning.text }
    const sealed = ENCRYPTED + Buffer.from(reasoning.text).toString('base64')
    const opened = { id: `rs_${randomText(24)}`, type: 'reasoning', summary: [] as JsonObject[] }
    const at = { summary_index: 0 }
    items.push({
      opened,
      item: {
        ...opened,
        summary: [part],
        ...(request.includesReasoning ? { encrypted_content: sealed } : {}),
      },
      deltas: [
        delta('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } }),
        ...reasoning.pieces.map(({ text, tokens }) =>
          delta('response.reasoning_summary_text.delta', { ...at, delta: text }, tokens),
        ),
        delta('response.reasoning_summary_text.done', { ...at, text: reasoning.text }),
        delta('response.reasoning_summary_part.done', { ...at, part }),
      ],
    })
  }
  for (const { query } of request.searches) {
    const call = { id: `ws_${randomText(24)}`, type: 'web_search_call' }
    items.push({
      opened: { ...call, status: 'in_progress', action: { type: 'search', query } },
      item: { ...call, status: 'completed', action: { type: 'search', query } },
      deltas: ['in_progress', 'searching', 'completed'].map((step) =>
        delta(`response.web_search_call.${step}`, {}),
      ),
    })
  }
  if (content !== undefined) {
    const annotations = request.searches.map(({ url, title }) => ({
      type: 'url_citation',
      start_index: 0,
      end_index: content.text.length,
      url,
      title,
    }))
    const { topLogprobs: top } = request
    const logprobsOf = (pieces: readonly Piece[]): JsonObject[] =>
      top === undefined ? [] : pieces.map((piece) => describeLogprob(piece, top))
    const logprobs = logprobsOf(content.pieces)
    const part = { type: 'output_text', text: content.text, annotations, logprobs }
    const message = { id: `msg_${randomText(24)}`, type: 'message', role: 'assistant' }
    const at = { content_index: 0 }
    items.push({
      opened: { ...message, status: 'in_progress', content: [] },
      item: { ...message, status, content: [part] },
      deltas: [
        delta('response.content_part.added', {
          ...at,
          part: { ...part, text: '', annotations: [], logprobs: [] },
        }),
        ...content.pieces.map((piece) =>
          delta(
            'response.output_text.delta',
            { ...at, delta: piece.text, logprobs: logprobsOf([piece]) },
            piece.tokens,
          ),
        ),
        ...annotations.map((annotation, annotation_index) =>
          delta('response.output_text.annotation.added', { ...at, annotation_index, annotation }),
        ),
        delta('response.output_text.done', { ...at, text: content.text, logprobs }),
        delta('response.content_part.done', { ...at, part }),
      ],
    })
  }
  for (const { id, name, nameTokens, arguments: made } of toolCalls) {
    const isCustom = request.custom.has(name)
    const type = isCustom ? 'custom_tool_call' : 'function_call'
    const field = isCustom ? 'input' : 'arguments'
    const kind = isCustom ? 'custom_tool_call_input' : 'function_call_arguments'
    const call = { id: `fc_${randomText(24)}`, type, call_id: id, name }
    items.push({
      opened: { ...call, [field]: '', status: 'in_progress' },
      item: { ...call, [field]: made.text, status },
      deltas: [
        ...made.pieces.map(({ text, tokens }, index) =>
          delta(
            `response.${kind}.delta`,
            { delta: text },
            index === 0 ? tokens + nameTokens : tokens,
          ),
        ),
        delta(`response.${kind}.done`, { [field]: made.text, ...(isCustom ? {} : { name }) }),
      ],
    })
  }
  return items
}

function delta(type: string, fields: JsonObject, tokens = 0): Item['deltas'][number] {
  return { type, fields, tokens }
}

function toInstructions(instructions: unknown): JsonObject[] {
  return typeof instructions === 'string' ? [{ role: 'system', content: instructions }] : []
}

function toMessages(input: unknown): JsonObject[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  if (!Array.isArray(input) || input.length === 0) throw missing('input')
  return input.filter(isObject).flatMap((item): JsonObject[] => {
    const { type = 'message', role, content, call_id: id } = item
    switch (type) {
      case 'message':
        return [{ role: role === 'developer' ? 'system' : role, content: toContent(content) }]
      case 'function_call':
      case 'custom_tool_call':
        return [{ role: 'assistant', content: null, tool_calls: [toCall(item)] }]
      case 'function_call_output':
      case 'custom_tool_call_output':
        return [{ role: 'tool', tool_call_id: id, content: toContent(item.output) }]
      case 'reasoning':
        checkReasoning(item)
        return []
      case 'web_search_call':
        return []
      default:
        throw new BadRequest(`Invalid value: '${String(type)}'.`, 'input', 'invalid_value')
    }
  })
}

function toCall({ call_id: id, name, arguments: args, input }: JsonObject): JsonObject {
  return { id, type: 'function', function: { name, arguments: args ?? input } }
}

function checkReasoning({ encrypted_content: sealed }: JsonObject): void {
  if (typeof sealed === 'string' && sealed.startsWith(ENCRYPTED)) return
  const message = 'The encrypted content could not be verified.'
  throw new BadRequest(message, 'input', 'invalid_encrypted_content')
}

function toContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.filter(isObject).map((part) => {
    if (part.type === 'input_image')
      return { type: 'image_url', image_url: { url: part.image_url } }
    if (part.type === 'input_file') return { type: 'file', file: {} }
    return part.type === 'refusal' ? part : { type: 'text', text: part.text }
  })
}

const FREE_TEXT = { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] }

function toTools(tools: readonly JsonObject[], { tool_choice: choice }: JsonObject): JsonObject {
  if (tools.length === 0) return {}
  const { name } = isObject(choice) ? choice : {}
  return {
    tools: tools.map((tool) => ({
      type: 'function',
      function: {
        name: tool.name,
        description: tool.description,
        parameters: tool.type === 'custom' ? FREE_TEXT : (tool.parameters ?? {}),
      },
    })),
    tool_choice: name === undefined ? choice : { type: 'function', function: { name } },
  }
}

function toFormat(text: unknown): JsonObject {
  const format = isObject(text) ? text.format : undefined
  if (!isObject(format) || format.type === 'text') return {}
  const { type, ...schema } = format
  return { response_format: type === 'json_schema' ? { type, json_schema: schema } : { type } }
}

/**
 * The answers and events that Open Responses (openresponses/openresponses, schema/*.tsp) asks of a server, as schemas of
 * our own: its required fields and their types, for the items that Catraca issues.
 */
import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Type, { type TProperties, type TSchema } from 'typebox'
import type { StreamEvent } from './assert-response.ts'

const text = Type.String()
const count = Type.Integer()
const nullable = (schema: TSchema): TSchema => Type.Union([schema, Type.Null()])
const object = (fields: TProperties) => Type.Object(fields)
const status = Type.Enum(['in_progress', 'completed', 'incomplete'])

const part = Type.Union([
  object({ type: Type.Literal('output_text'), text, annotations: Type.Array(object({})) }),
  object({ type: Type.Literal('refusal'), refusal: text }),
  object({ type: Type.Literal('summary_text'), text }),
  object({ type: Type.Literal('reasoning_text'), text }),
  object({ type: Type.Literal('input_text'), text }),
])

const item = Type.Union([
  object({
    type: Type.Literal('message'),
    id: text,
    status,
    role: Type.Enum(['user', 'assistant', 'system', 'developer']),
    content: Type.Array(part),
  }),
  object({
    type: Type.Literal('function_call'),
    id: text,
    call_id: text,
    name: text,
    arguments: text,
    status,
  }),
  object({
    type: Type.Literal('reasoning'),
    id: text,
    summary: Type.Array(part),
    content: Type.Optional(Type.Array(part)),
    encrypted_content: Type.Optional(text),
  }),
])

const tool = object({
  type: Type.Literal('function'),
  name: text,
  description: nullable(text),
  parameters: nullable(object({})),
  strict: nullable(Type.Boolean()),
})

const choice = Type.Enum(['none', 'auto', 'required'])
const usage = object({
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  input_tokens_details: object({ cached_tokens: count }),
  output_tokens_details: object({ reasoning_tokens: count }),
})

export const openResponse = object({
  id: text,
  object: Type.Literal('response'),
  created_at: count,
  completed_at: nullable(count),
  status: text,
  incomplete_details: nullable(object({ reason: text })),
  model: text,
  previous_response_id: nullable(text),
  instructions: nullable(text),
  output: Type.Array(item),
  error: nullable(object({ code: text, message: text })),
  tools: Type.Array(tool),
  tool_choice: Type.Union([
    choice,
    object({ type: Type.Literal('function'), name: Type.Optional(text) }),
    object({ type: Type.Literal('allowed_tools'), tools: Type.Array(object({})), mode: choice }),
  ]),
  truncation: Type.Enum(['auto', 'disabled']),
  parallel_tool_calls: Type.Boolean(),
  text: object({ format: object({ type: text }) }),
  top_p: Type.Number(),
  presence_penalty: Type.Number(),
  frequency_penalty: Type.Number(),
  top_logprobs: count,
  temperature: Type.Number(),
  reasoning: nullable(
    object({
      effort: nullable(Type.Enum(['none', 'low', 'medium', 'high', 'xhigh'])),
      summary: nullable(Type.Enum(['concise', 'detailed', 'auto'])),
    }),
  ),
  usage: nullable(usage),
  max_output_tokens: nullable(count),
  max_tool_calls: nullable(count),
  store: Type.Boolean(),
  background: Type.Boolean(),
  service_tier: text,
  metadata: Type.Unknown(),
  safety_identifier: nullable(text),
  prompt_cache_key: nullable(text),
})

const inItem = { item_id: text, output_index: count }
const inContent = { ...inItem, content_index: count }
const inSummary = { ...inItem, summary_index: count }
const whole = { response: openResponse }

/** The fields of each event beside `type` and `sequence_number`. */
const EVENTS: Readonly<Record<string, TProperties>> = {
  'response.created': whole,
  'response.in_progress': whole,
  'response.completed': whole,
  'response.incomplete': whole,
  'response.failed': whole,
  'response.output_item.added': { output_index: count, item },
  'response.output_item.done': { output_index: count, item },
  'response.content_part.added': { ...inContent, part },
  'response.content_part.done': { ...inContent, part },
  'response.output_text.delta': { ...inContent, delta: text },
  'response.output_text.done': { ...inContent, text },
  'response.refusal.delta': { ...inContent, delta: text },
  'response.refusal.done': { ...inContent, refusal: text },
  'response.reasoning_summary_part.added': { ...inSummary, part },
  'response.reasoning_summary_part.done': { ...inSummary, part },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: text },
  'response.reasoning_summary_text.done': { ...inSummary, text },
  'response.function_call_arguments.delta': { ...inItem, delta: text },
  'response.function_call_arguments.done': { ...inItem, arguments: text },
}

/** The list of `/input_items`. */
export const openItemList = object({
  object: Type.Literal('list'),
  data: Type.Array(item),
  first_id: nullable(text),
  last_id: nullable(text),
  has_more: Type.Boolean(),
})

const ajv = new Ajv2020({ strict: false, code: { optimize: false } })

export function assertOpen(schema: TSchema, value: unknown): void {
  assert.ok(ajv.validate(schema, value), `${ajv.errorsText()}: ${JSON.stringify(value)}`)
}

const eventSchemas = new Map(
  Object.entries(EVENTS).map(([type, fields]) => [
    type,
    object({ type: Type.Literal(type), sequence_number: count, ...fields }),
  ]),
)

export function assertOpenEvents(events: readonly StreamEvent[]): void {
  for (const event of events) {
    const schema = eventSchemas.get(event.type)
    assert.ok(schema, event.type)
    assertOpen(schema, event)
  }
}

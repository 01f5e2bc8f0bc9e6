/**
 * Writes an answer that came in the Responses format: its items and events as they came, with our ids, the client's
 * names of tools and the usage that is charged. Events and fields that are not listed here stay hidden.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject, TextDelta } from '../../../../providers/contract.ts'
import type { Refusal } from '../../../refusal.ts'
import { type Charged, createDeltaWriter } from '../../chat-format.ts'
import { copyFields } from '../fields.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { createResponseEvents, openEvent, type ResponseStream } from './response-events.ts'
import { writeResponse, type ResponseHead } from './response-head.ts'
import { callFields, type ClientRunTool } from './client-run-tools.ts'
import type { ClientTools } from './to-chat-tools.ts'

export interface NativeOptions {
  /** Ends the ids of items. */
  readonly idTail: string
  readonly tools: ClientTools
  readonly ids: Pick<ToolCallIds, 'hidden'>
}

export interface NativeResponseStream extends Pick<ResponseStream, 'end' | 'broken'> {
  /** The events that the customer may see now; the end waits for the charge. */
  chunk(events: readonly JsonObject[]): string | undefined
  /** As `chunk`, for an event that only adds text. */
  delta(delta: TextDelta): string
}

const PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  web_search_call: 'ws',
}
const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: ['type', 'role', 'status', 'phase'],
  reasoning: ['type', 'status', 'encrypted_content'],
  function_call: ['type', 'status', 'arguments'],
  custom_tool_call: ['type', 'status', 'input'],
  web_search_call: ['type', 'status', 'action'],
}
const PART_FIELDS: Readonly<Record<string, readonly string[]>> = {
  output_text: ['type', 'text'],
  refusal: ['type', 'refusal'],
  summary_text: ['type', 'text'],
  reasoning_text: ['type', 'text'],
}
/** What a text cites: only pages of the web. */
const CITATION_FIELDS = ['type', 'start_index', 'end_index', 'url', 'title'] as const
/** The fields of each event beside `item_id` and `output_index`. */
const EVENT_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'response.output_item.added': [],
  'response.output_item.done': [],
  'response.content_part.added': ['content_index'],
  'response.content_part.done': ['content_index'],
  'response.output_text.delta': ['content_index', 'delta'],
  'response.output_text.done': ['content_index', 'text'],
  'response.output_text.annotation.added': ['content_index', 'annotation_index'],
  'response.web_search_call.in_progress': [],
  'response.web_search_call.searching': [],
  'response.web_search_call.completed': [],
  'response.refusal.delta': ['content_index', 'delta'],
  'response.refusal.done': ['content_index', 'refusal'],
  'response.reasoning_summary_part.added': ['summary_index'],
  'response.reasoning_summary_part.done': ['summary_index'],
  'response.reasoning_summary_text.delta': ['summary_index', 'delta'],
  'response.reasoning_summary_text.done': ['summary_index', 'text'],
  'response.reasoning_text.delta': ['content_index', 'delta'],
  'response.reasoning_text.done': ['content_index', 'text'],
  'response.function_call_arguments.delta': ['delta'],
  'response.function_call_arguments.done': ['arguments'],
  'response.custom_tool_call_input.delta': ['delta'],
  'response.custom_tool_call_input.done': ['input'],
}

/** Writes a whole response as JSON, from an answer in the Responses format. */
export function nativeResponse(
  head: ResponseHead,
  options: NativeOptions,
  answer: JsonObject,
  charged: Charged,
): string {
  const output = itemsOf(answer, options)
  return writeResponse(head, { ...finishOf(answer), output, charged })
}

export function createNativeResponseStream(
  head: ResponseHead,
  options: NativeOptions,
): NativeResponseStream {
  const events = createResponseEvents(head)
  /** The items that have ended, for a response that breaks off. */
  const items = new Map<number, JsonObject>()
  /** The types of all items: the ids of later events depend on them. */
  const types = new Map<unknown, string>()
  let last: JsonObject = {}

  function show(event: JsonObject): void {
    const type = nameOf(event.type)
    const index = Number(event.output_index)
    if (type === 'response.completed' || type === 'response.incomplete') {
      last = isObject(event.response) ? event.response : {}
      return
    }
    const fields = Object.hasOwn(EVENT_FIELDS, type) ? EVENT_FIELDS[type] : undefined
    if (!fields) return
    if (!isObject(event.item)) {
      const shown = fieldsOf(event, type, index, fields)
      return shown && events.emit(type, shown)
    }
    const item = publicItem(event.item, index, options)
    if (!item) return
    types.set(index, nameOf(item.type))
    deltas.forget()
    if (type === 'response.output_item.done') items.set(index, item)
    events.emit(type, { output_index: index, item })
  }

  /** What is shown of an event that adds to an item; undefined if nothing is. */
  function fieldsOf(
    event: JsonObject,
    type: string,
    index: number,
    fields: readonly string[],
  ): JsonObject | undefined {
    const itemType = types.get(index)
    if (itemType === undefined || PREFIXES[itemType] === undefined) return undefined
    const shown: JsonObject = { item_id: idOf(itemType, index, options), output_index: index }
    copyFields(fields, event, shown)
    if (isObject(event.part)) {
      const part = publicPart(event.part)
      if (!part) return undefined
      shown.part = part
    }
    if (type === 'response.output_text.annotation.added') {
      const [annotation] = citationsOf([event.annotation])
      if (!annotation) return
      shown.annotation = annotation
    } else if (type.startsWith('response.output_text.')) shown.logprobs = []
    // The format wants the name of the function beside its arguments.
    if (type === 'response.function_call_arguments.done')
      shown.name = clientTool(event.name, options).name
    return shown
  }

  const deltas = createDeltaWriter(({ nativeWith }, text) => {
    const event = nativeWith?.(text) ?? {}
    const type = nameOf(event.type)
    const shown = fieldsOf(event, type, Number(event.output_index), EVENT_FIELDS[type] ?? [])
    return shown ? openEvent(type, shown) : ''
  })

  return {
    chunk(list) {
      events.begin()
      for (const event of list) show(event)
      const text = events.take()
      return text === '' ? undefined : text
    },
    delta(delta) {
      const opened = deltas.write(delta)
      return opened === '' ? '' : events.number(opened)
    },
    end(charged) {
      events.beginEnd()
      const finish = finishOf(last)
      const output = Array.isArray(last.output) ? itemsOf(last, options) : [...items.values()]
      events.end({ ...finish, output, charged })
      return events.take()
    },
    broken({ message }: Refusal) {
      events.fail(message, [...items.values()])
      return events.take()
    },
  }
}

function itemsOf({ output }: JsonObject, options: NativeOptions): JsonObject[] {
  const items = Array.isArray(output) ? (output as unknown[]) : []
  return items.flatMap((item, index): JsonObject[] => {
    const shown = isObject(item) ? publicItem(item, index, options) : undefined
    return shown ? [shown] : []
  })
}

/** Returns an item as clients get it; undefined for an item of a type that is not known here. */
function publicItem(
  item: JsonObject,
  index: number,
  options: NativeOptions,
): JsonObject | undefined {
  const type = nameOf(item.type)
  const fields = Object.hasOwn(ITEM_FIELDS, type) ? ITEM_FIELDS[type] : undefined
  if (!fields) return undefined
  const own = type === 'function_call' && options.tools.get(nameOf(item.name))?.ownItems
  if (own) return ownItem(item, index, own, options)
  const shown: JsonObject = { id: idOf(type, index, options) }
  copyFields(fields, item, shown)
  for (const list of ['content', 'summary'] as const)
    if (Array.isArray(item[list])) shown[list] = partsOf(item[list])
  if (typeof item.call_id === 'string')
    Object.assign(shown, {
      call_id: options.ids.hidden(item.call_id),
      ...clientTool(item.name, options),
    })
  return shown
}

/** A call of a tool for which the format has an item of its own. */
function ownItem(
  { call_id: callId, arguments: written, status }: JsonObject,
  index: number,
  tool: ClientRunTool,
  { ids, idTail }: NativeOptions,
): JsonObject {
  return {
    id: `${tool.prefix}_${idTail}${index}`,
    type: tool.callType,
    call_id: typeof callId === 'string' ? ids.hidden(callId) : '',
    ...callFields(tool, written),
    status: status ?? 'completed',
  }
}

function partsOf(list: readonly unknown[]): JsonObject[] {
  const shown: JsonObject[] = []
  for (const part of list) {
    const known = isObject(part) && publicPart(part)
    if (known) shown.push(known)
  }
  return shown
}

function publicPart(part: JsonObject): JsonObject | undefined {
  const type = nameOf(part.type)
  const fields = Object.hasOwn(PART_FIELDS, type) ? PART_FIELDS[type] : undefined
  if (!fields) return undefined
  const shown = copyFields(fields, part, {})
  if (type === 'output_text') {
    shown.annotations = citationsOf(part.annotations)
    shown.logprobs = []
  }
  return shown
}

function citationsOf(annotations: unknown): JsonObject[] {
  return (Array.isArray(annotations) ? annotations : [])
    .filter(isObject)
    .filter(({ type }) => type === 'url_citation')
    .map((citation) => copyFields(CITATION_FIELDS, citation, {}))
}

/** The name as the client knows it, with its namespace. */
function clientTool(
  upstreamName: unknown,
  { tools }: NativeOptions,
): { name: unknown; namespace?: string } {
  const tool = typeof upstreamName === 'string' ? tools.get(upstreamName) : undefined
  if (!tool) return { name: upstreamName }
  const { isCustom: _isCustom, ownItems: _own, ...named } = tool
  return named
}

/** A type that is no text is none: `String` takes `["message"]` for a message, and throws for `{"toString":1}`. */
function nameOf(type: unknown): string {
  return typeof type === 'string' ? type : ''
}

function idOf(type: string, index: number, { idTail }: NativeOptions): string {
  return `${PREFIXES[type]}_${idTail}${index}`
}

function finishOf({ status, incomplete_details: details }: JsonObject): {
  readonly status: 'completed' | 'incomplete'
  readonly incompleteReason?: string
} {
  if (status !== 'incomplete') return { status: 'completed' }
  const isFilter = isObject(details) && details.reason === 'content_filter'
  return {
    status: 'incomplete',
    incompleteReason: isFilter ? 'content_filter' : 'max_output_tokens',
  }
}

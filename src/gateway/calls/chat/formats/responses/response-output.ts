/**
 * The output of a response and the events that announce it, from the deltas of a chat. A whole answer is read as one
 * delta, so that it has the same items as its stream.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { beginCall, type CallItem } from './call-item.ts'
import { createItemList, type Emit, type ItemList, type ItemStatus } from './input-items.ts'
import type { SealReasoning, KeptReasoning } from './reasoning-seal.ts'
import type { ClientTools } from './to-chat-tools.ts'

export interface ResponseOutput {
  add(delta: JsonObject): void
  /** Ends every item. `isWhole`: the model was not cut off. */
  end(isWhole: boolean): void
  readonly items: readonly JsonObject[]
}

export interface OutputOptions {
  /** Ends the ids of items. */
  readonly idTail: string
  readonly tools: ClientTools
  readonly seal: SealReasoning
  readonly ids: Pick<ToolCallIds, 'hide'>
  /** Set if the answer is the summary of a conversation. */
  readonly sealSummary?: ((text: string) => string) | undefined
}

export function createResponseOutput(
  { idTail, tools, seal, ids, sealSummary }: OutputOptions,
  emit: Emit,
): ResponseOutput {
  const list = createItemList(idTail, emit)
  if (sealSummary) return createSummaryOutput(list, sealSummary)
  /** Only one of these is open at a time. */
  let open: ReasoningItem | MessageItem | undefined
  /** Open to the end, because their deltas may alternate. By the index in the chunks. */
  const calls = new Map<unknown, CallItem>()
  const signaturesOfCalls: JsonObject = {}
  let signatures: JsonObject = {}

  function close(): void {
    open?.end('completed')
    open = undefined
  }

  function think(delta: JsonObject): void {
    if (open?.kind !== 'reasoning') {
      close()
      open = beginReasoning(list, seal)
    }
    open.add(delta)
  }

  function say(type: 'output_text' | 'refusal', text: unknown): void {
    if (typeof text !== 'string' || text === '') return
    if (open?.kind !== 'message') {
      close()
      open = beginMessage(list)
    }
    open.say(type, text)
  }

  /** A whole answer has no indexes. */
  function call(delta: JsonObject, position: number): void {
    const key = delta.index ?? position
    let item = calls.get(key)
    if (!item) {
      close()
      item = beginCall(list, tools, delta, `call_${idTail}${calls.size}`)
      calls.set(key, item)
    }
    if (delta.extra_content !== undefined) signaturesOfCalls[item.callId] = delta.extra_content
    const text = isObject(delta.function) ? delta.function.arguments : undefined
    if (typeof text === 'string' && text !== '') item.add(text)
  }

  return {
    items: list.items,
    add(delta) {
      if (delta.tool_calls !== undefined) ids.hide(delta)
      if (hasReasoning(delta)) think(delta)
      say('output_text', delta.content)
      say('refusal', delta.refusal)
      const { tool_calls: made, extra_content: extra } = delta
      if (Array.isArray(made)) made.filter(isObject).forEach(call)
      if (extra !== undefined) signatures = { extra_content: extra }
    },
    end(isWhole) {
      const status = isWhole ? 'completed' : 'incomplete'
      open?.end(calls.size > 0 ? 'completed' : status)
      const last = [...calls.values()].at(-1)
      for (const item of calls.values()) item.end(item === last ? status : 'completed')
      const kept = { fields: signatures, calls: signaturesOfCalls }
      if (Object.values(kept).some((each) => Object.keys(each).length > 0))
        addSignatures(list, seal, kept)
    },
  }
}

/** The output of a compaction: one item, whose text is seen only once it is whole. None if the model wrote no text. */
function createSummaryOutput(
  list: ItemList,
  sealSummary: (text: string) => string,
): ResponseOutput {
  let text = ''
  return {
    items: list.items,
    add({ content }) {
      if (typeof content === 'string') text += content
    },
    end() {
      if (text === '') return
      const item = { type: 'compaction', encrypted_content: sealSummary(text) }
      const { index, id } = list.add('cmp', item)
      list.end(index, { id, ...item })
    },
  }
}

type PartType = 'output_text' | 'refusal'

/** A message to which deltas add. */
interface MessageItem {
  readonly kind: 'message'
  say(type: PartType, text: string): void
  end(status: ItemStatus): void
}

function beginMessage(list: ItemList): MessageItem {
  const { emit } = list
  const message = { type: 'message', role: 'assistant' }
  const { index, id } = list.add('msg', { ...message, status: 'in_progress', content: [] })
  const content: JsonObject[] = []
  let part: { type: PartType; text: string } | undefined
  const at = () => ({ item_id: id, output_index: index, content_index: content.length })

  function endPart(): void {
    if (!part) return
    const { type, text } = part
    const ended = toPart(type, text)
    const fields = type === 'refusal' ? { refusal: text } : { text, logprobs: [] }
    emit(`response.${type}.done`, { ...at(), ...fields })
    emit('response.content_part.done', { ...at(), part: ended })
    content.push(ended)
    part = undefined
  }

  return {
    kind: 'message',
    say(type, text) {
      if (part?.type !== type) {
        endPart()
        part = { type, text: '' }
        emit('response.content_part.added', { ...at(), part: toPart(type, '') })
      }
      part.text += text
      const fields = type === 'refusal' ? {} : { logprobs: [] }
      emit(`response.${type}.delta`, { ...at(), delta: text, ...fields })
    },
    end(status) {
      endPart()
      list.end(index, { id, ...message, status, content })
    },
  }
}

function toPart(type: PartType, text: string): JsonObject {
  if (type === 'refusal') return { type, refusal: text }
  return { type, text, annotations: [], logprobs: [] }
}

/** A reasoning item to which deltas add. */
interface ReasoningItem {
  readonly kind: 'reasoning'
  /** Adds the reasoning of a delta. */
  add(delta: JsonObject): void
  end(): void
}

/** Shown as a summary, which every client displays; models' own reasoning is displayed by few. */
function beginReasoning(list: ItemList, seal: SealReasoning): ReasoningItem {
  const { emit } = list
  const { index, id } = list.add('rs', { type: 'reasoning', summary: [] })
  const at = { item_id: id, output_index: index, summary_index: 0 }
  const details: unknown[] = []
  let name: string | undefined
  let text = ''

  function think(delta: string): void {
    const part = { type: 'summary_text', text: '' }
    if (text === '') emit('response.reasoning_summary_part.added', { ...at, part })
    text += delta
    emit('response.reasoning_summary_text.delta', { ...at, delta })
  }

  return {
    kind: 'reasoning',
    add(delta) {
      const { reasoning_details: more } = delta
      if (Array.isArray(more)) details.push(...more)
      const field = reasoningNameOf(delta)
      name ??= field
      if (field !== undefined) think(delta[field] as string)
    },
    end() {
      const part = { type: 'summary_text', text }
      if (text !== '') {
        emit('response.reasoning_summary_text.done', { ...at, text })
        emit('response.reasoning_summary_part.done', { ...at, part })
      }
      const fields = {
        ...(name === undefined ? {} : { [name]: text }),
        ...(details.length > 0 ? { reasoning_details: details } : {}),
      }
      const sealed = seal({ fields, calls: {} })
      const summary = text === '' ? [] : [part]
      list.end(index, { id, type: 'reasoning', summary, encrypted_content: sealed })
    },
  }
}

/** Adds an item without a text, for signatures beside texts and calls. */
function addSignatures(list: ItemList, seal: SealReasoning, kept: KeptReasoning): void {
  const item = { type: 'reasoning', summary: [] }
  const { index, id } = list.add('rs', item)
  list.end(index, { id, ...item, encrypted_content: seal(kept) })
}

function hasReasoning(delta: JsonObject): boolean {
  const { reasoning_details: details } = delta
  return reasoningNameOf(delta) !== undefined || (Array.isArray(details) && details.length > 0)
}

/** The field that holds the text of reasoning; upstreams use either name. */
function reasoningNameOf(delta: JsonObject): string | undefined {
  return ['reasoning_content', 'reasoning'].find((name) => {
    const text = delta[name]
    return typeof text === 'string' && text !== ''
  })
}

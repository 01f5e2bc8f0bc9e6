/**
 * The output of a response and the events that announce it, from the deltas of a chat. A whole answer is read as one
 * delta, so that it has the same items as its stream.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { beginCall, type CallItem } from './call-item.ts'
import { createItemList, type Emit } from './item-list.ts'
import { beginMessage, type MessageItem } from './message-item.ts'
import {
  addSignatures,
  beginReasoning,
  hasReasoning,
  type ReasoningItem,
} from './reasoning-item.ts'
import type { SealReasoning } from './reasoning-seal.ts'
import type { ClientTools } from './tool-names.ts'

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
}

export function createResponseOutput(
  { idTail, tools, seal, ids }: OutputOptions,
  emit: Emit,
): ResponseOutput {
  const list = createItemList(idTail, emit)
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

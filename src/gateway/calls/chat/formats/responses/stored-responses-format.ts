/**
 * The Responses format for accounts that store their responses, and for connections that remember their last one. A request that continues a stored response, or refers
 * to stored items, is read as if its client had sent the whole conversation: what follows (the shield, the quote, the
 * hold, the adapters) sees that, and no upstream ever sees an id of ours.
 */
import { idTailOf } from '../../../../../platform/lib/ids.ts'
import { BODY_BOUNDS, findJsonExcess } from '../../../../../platform/lib/bound-json.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { within } from '../../../../../platform/lib/within.ts'
import type { Log } from '../../../../../platform/lib/log.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { STORED_PART_BYTES_MAX } from '../../../../../customers/stored-responses/store-response.ts'
import type { Reader } from '../../../../../customers/stored-responses/reader.ts'
import type { ResponseStore } from '../../../../../customers/stored-responses/response-store.ts'
import { isAbsent } from '../../../field-faults.ts'
import {
  TIMED_FROM_BYTES,
  TOO_MANY_WAIT,
  type OwnTime,
} from '../../../../../platform/admission/own-time.ts'
import { readJsonBody, TOO_MANY_VALUES } from '../../../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../../../refusal.ts'
import type { ChatCaller, ChatFormat } from '../../chat-format.ts'
import { withoutCompacted } from './compaction.ts'
import type { ConnectionMemory } from './connection-memory.ts'
import { resolveReferences } from './resolve-references.ts'
import { callIdOfResponse, type EndedResponse } from './response-head.ts'
import type { ResponsesFormat, ResponsesRequest } from './responses-format.ts'
import type { ReadingRoom, StoredConversations } from './stored-conversation.ts'

export interface StoredResponsesDeps {
  readonly store: Pick<ResponseStore, 'put'>
  readonly conversations: StoredConversations
  readonly time: OwnTime
  readonly log: Pick<Log, 'warn' | 'error'>
}

/** The end of an answer does not wait any longer for its being stored. */
const KEEP_MS_MAX = 2_000

export function createStoredResponsesFormat(
  format: ResponsesFormat,
  deps: StoredResponsesDeps,
  /** Of a WebSocket, whose answers are always streams. */
  memory?: ConnectionMemory,
): ChatFormat<ResponsesRequest> {
  return {
    async readRequest(raw, caller) {
      if (caller.storedResponsesDays === null && !memory) return format.readRequest(raw, caller)
      const body = readJsonBody(raw)
      if (isRefusal(body)) return body
      const room = deps.conversations.openRoom(readerOf(caller), raw.length)
      let request: ResponsesRequest | Refusal | undefined
      try {
        const asked = memory ? { ...body, stream: true } : body
        request = await readStored(format, deps, room, asked, caller, memory)
        return request
      } catch (error) {
        deps.log.error('stored_responses_not_read', { customerId: caller.customerId, error })
        return refusals.serviceUnavailable()
      } finally {
        if (!request || isRefusal(request)) room[Symbol.dispose]()
      }
    },
    withPreset: format.withPreset,
    createWriter(call) {
      const { kept } = call.request
      if (!kept && !memory) return format.createWriter(call)
      let response: EndedResponse | undefined
      const writer = format.createWriter(call, (ended) => (response = ended))
      return {
        ...writer,
        async keep() {
          if (!response) return
          if (!response.isFailed)
            memory?.answer(idTailOf(call.id), call.request.asked ?? [], response.output)
          if (!kept) return
          const { id } = call
          const { owner, previousId } = kept
          const input = JSON.stringify(kept.input)
          try {
            await within(
              KEEP_MS_MAX,
              deps.store.put({ id, ...owner, previousId, input, ...response }),
            )
          } catch (error) {
            // The answer is charged, and leaves: the response is not found later.
            deps.log.warn('response_not_stored', { callId: id, error })
          }
        },
      }
    },
  }
}

/**
 * Returns the reader for a model call: a key of the scope `calls`, and a key of a team, reads only its own responses.
 */
export function readerOf({ id, customerId, scope, teamId }: ChatCaller): Reader {
  return { customerId, keyId: id, seesAccount: scope !== 'calls' && teamId === null }
}

async function readStored(
  format: ResponsesFormat,
  { conversations, time }: Pick<StoredResponsesDeps, 'conversations' | 'time'>,
  room: ReadingRoom,
  body: JsonObject,
  caller: ChatCaller,
  memory: ConnectionMemory | undefined,
): Promise<ResponsesRequest | Refusal> {
  const { previous_response_id: previous, ...own } = body
  const input = ownItems(own.input, previous)
  // The format refuses it, with the reason.
  if (!input) return format.readBody(own, room.bytes(), caller)
  const bytesOfRequest = room.bytes()
  const before = isAbsent(previous) ? [] : await readBefore(conversations, room, previous, memory)
  if ('kind' in before) return before
  const items = await resolveReferences(conversations, room, [...before, ...input])
  if ('kind' in items) return items
  const isStored =
    caller.storedResponsesDays !== null &&
    body.store !== false &&
    bytesOfRequest <= STORED_PART_BYTES_MAX
  const expanded = { ...own, input: items, ...(isStored ? withReasoning(own) : {}) }
  const { customerId, id: keyId } = caller
  const read = () => format.readBody(expanded, room.bytes(), caller, before.length)
  // A conversation counts as if all of it had been sent.
  const isLarge = room.bytes() > TIMED_FROM_BYTES
  const request = isLarge ? await time.takeInTurn(customerId, read) : read()
  if (request === TOO_MANY_WAIT) return refusals.tooManyCalls(time.waitingMax)
  if (isRefusal(request)) return request
  return {
    ...request,
    asked: memory && items,
    repeated: {
      ...request.repeated,
      isStored,
      previousId: previous,
    },
    ...(isStored
      ? {
          kept: {
            owner: { customerId, keyId },
            input,
            previousId: callIdOfResponse(previous) ?? null,
          },
        }
      : {}),
    room,
  }
}

/**
 * A continued conversation must contain its reasoning, which an upstream that stores nothing returns sealed if asked.
 * Only a request that sets `reasoning` is known to be for a model that reasons; other models refuse this field.
 */
function withReasoning({ reasoning, include }: JsonObject): JsonObject {
  if (!isObject(reasoning)) return {}
  const others = Array.isArray(include) ? (include as unknown[]) : []
  return { include: [...others, 'reasoning.encrypted_content'] }
}

/** The items of the conversation that a request continues. */
async function readBefore(
  conversations: StoredConversations,
  room: ReadingRoom,
  previous: unknown,
  memory: ConnectionMemory | undefined,
): Promise<readonly unknown[] | Refusal> {
  const remembered = memory?.find(previous)
  if (remembered) {
    const refused = await room.take(remembered.length)
    if (refused) return refused
    // Each was within the bounds as a request; together they may not be.
    if (findJsonExcess(remembered, BODY_BOUNDS)) return TOO_MANY_VALUES
    return withoutCompacted(JSON.parse(remembered.toString()) as unknown[])
  }
  const read = await conversations.readConversation(room, previous)
  // A conversation without its beginning would be another one.
  if (!read || (read.kind === 'conversation' && !read.isWhole))
    return refusals.previousResponseNotFound(typeof previous === 'string' ? previous : '')
  if (read.kind === 'refused') return read
  if (read.isFailed) return refusals.previousResponseFailed()
  return withoutCompacted(read.turns.flatMap(({ input, output }) => [...input, ...output]))
}

/** Undefined for an input that is refused. What continues a response may add nothing, as a compaction does. */
function ownItems(input: unknown, previous: unknown): readonly unknown[] | undefined {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  const items: unknown = input ?? []
  const isEnough = Array.isArray(items) && (items.length > 0 || !isAbsent(previous))
  return isEnough ? (items as unknown[]) : undefined
}

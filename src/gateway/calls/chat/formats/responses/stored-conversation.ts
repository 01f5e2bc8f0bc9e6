/** Reads stored responses within the bounds of a request's body: in bytes, in memory, in structure and in pace. */
import { BODY_BOUNDS, findJsonExcess } from '../../../../../platform/lib/bound-json.ts'
import type { Share } from '../../../../../platform/admission/share.ts'
import type { Pace } from '../../../../../platform/admission/rate.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { CONVERSATION_MAX } from '../../../../../customers/stored-responses/store-response.ts'
import type { Reader } from '../../../../../customers/stored-responses/reader.ts'
import type {
  ResponseStore,
  ResponseTexts,
} from '../../../../../customers/stored-responses/response-store.ts'
import { customerSubject } from '../../../limits.ts'
import { TOO_MANY_VALUES } from '../../../read-request.ts'
import { refusalOfExcess, refusals, type Refusal } from '../../../refusal.ts'
import { callIdOfResponse } from './response-head.ts'

export interface StoredTurn {
  readonly callId: string
  /** As the client wrote it; empty if only the output was asked for. */
  readonly input: readonly JsonObject[]
  readonly output: readonly JsonObject[]
}

export interface StoredConversation {
  readonly kind: 'conversation'
  readonly turns: readonly StoredTurn[]
  /** False if a response before these was deleted. */
  readonly isWhole: boolean
  /** The last response broke off. */
  readonly isFailed: boolean
}

/** The reads of one request; their bytes count for the customer until it is disposed of. */
export interface ReadingRoom extends Disposable {
  readonly reader: Reader
  /** The bytes of the request and of all that was read for it. */
  bytes(): number
  /** Takes the memory for so many bytes more and waits for their turn, or refuses them. */
  take(bytes: number): Promise<Refusal | undefined>
}

export interface StoredConversations {
  openRoom(reader: Reader, requestBytes: number): ReadingRoom
  /** The texts of one response; undefined if the reader does not see it. */
  readResponse(
    room: ReadingRoom,
    responseId: unknown,
  ): Promise<{ readonly kind: 'response'; readonly texts: ResponseTexts } | Refusal | undefined>
  /** The response with this id and all before it, the oldest first; undefined if the reader sees no such response. */
  readConversation(
    room: ReadingRoom,
    responseId: unknown,
  ): Promise<StoredConversation | Refusal | undefined>
  /** The outputs of these calls, as far as they exist. */
  readOutputs(
    room: ReadingRoom,
    callIds: readonly string[],
  ): Promise<readonly StoredTurn[] | Refusal>
}

export interface StoredConversationDeps {
  readonly store: Pick<ResponseStore, 'measureConversation' | 'measure' | 'read'>
  readonly memory: Share
  readonly pace: Pace
  /** A conversation is as large as a body may be. */
  readonly bodyBytesMax: number
}

export function createStoredConversations(deps: StoredConversationDeps): StoredConversations {
  const { store, memory, pace, bodyBytesMax } = deps

  function openRoom(reader: Reader, requestBytes: number): ReadingRoom {
    const held = memory.open(customerSubject(reader.customerId))
    return {
      reader,
      bytes: () => requestBytes + held.amount,
      async take(bytes) {
        if (requestBytes + held.amount + bytes > bodyBytesMax)
          return refusals.conversationTooLarge(bodyBytesMax)
        const excess = held.take(bytes)
        if (excess) return refusalOfExcess(excess)
        await pace.wait(reader.customerId, bytes)
        return undefined
      },
      [Symbol.dispose]: () => held[Symbol.dispose](),
    }
  }

  async function read(
    room: ReadingRoom,
    callIds: readonly string[],
    bytes: number,
    parts: 'all' | 'response',
  ): Promise<StoredTurn[] | Refusal> {
    const refused = await room.take(bytes)
    if (refused) return refused
    const texts = await store.read(room.reader, callIds, parts)
    const found = callIds.filter((id) => texts.has(id))
    const lists = found.flatMap((id) => [texts.get(id)?.input ?? '[]', texts.get(id)?.output])
    const text = Buffer.from(`[${lists.join()}]`)
    // Each was within the bounds as a request; together they may not be.
    if (findJsonExcess(text, BODY_BOUNDS)) return TOO_MANY_VALUES
    const parsed = JSON.parse(text.toString()) as JsonObject[][]
    return found.map((callId, index) => ({
      callId,
      input: parsed[2 * index] ?? [],
      output: parsed[2 * index + 1] ?? [],
    }))
  }

  return {
    openRoom,
    async readResponse(room, responseId) {
      const callId = callIdOfResponse(responseId)
      const [measured] = callId === undefined ? [] : await store.measure(room.reader, [callId])
      if (!measured) return undefined
      const { id, responseBytes } = measured
      const refused = await room.take(responseBytes)
      if (refused) return refused
      const texts = (await store.read(room.reader, [id], 'response')).get(id)
      return texts && { kind: 'response', texts }
    },
    async readConversation(room, responseId) {
      const callId = callIdOfResponse(responseId)
      if (callId === undefined) return undefined
      const chain = await store.measureConversation(room.reader, callId)
      const [last] = chain
      if (!last) return undefined
      if (chain.length > CONVERSATION_MAX) return refusals.conversationTooLong(CONVERSATION_MAX)
      const ids = chain.map(({ id }) => id).toReversed()
      const bytes = sum(chain.map((each) => each.inputBytes + each.responseBytes))
      const turns = await read(room, ids, bytes, 'all')
      if ('kind' in turns) return turns
      // One may have been deleted since it was measured.
      const isWhole = chain.at(-1)?.previousId === null && turns.length === ids.length
      const isThere = turns.at(-1)?.callId === callId
      return isThere ? { kind: 'conversation', turns, isWhole, isFailed: last.isFailed } : undefined
    },
    async readOutputs(room, callIds) {
      if (callIds.length > CONVERSATION_MAX) return refusals.conversationTooLong(CONVERSATION_MAX)
      const measured = await store.measure(room.reader, callIds)
      if (measured.length === 0) return []
      const bytes = sum(measured.map(({ responseBytes }) => responseBytes))
      return read(
        room,
        measured.map(({ id }) => id),
        bytes,
        'response',
      )
    },
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

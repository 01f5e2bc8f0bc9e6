import type { Held, Share } from '../../../../../platform/admission/share.ts'
import { customerSubject } from '../../../limits.ts'
import { responseIdOf } from './response-head.ts'

/**
 * The last response of one WebSocket with the conversation before it, so that the next request on it can continue it
 * also where nothing is stored. It is in memory while the connection is open, and is forgotten where there is no room for
 * it: its client then sends the conversation whole.
 */
export interface ConnectionMemory extends Disposable {
  /** The JSON of the items of the response with this id and of all before it; undefined for another id. */
  find(responseId: unknown): Buffer | undefined
  /** Remembers the response to these items; `output` is the JSON of its own. */
  answer(idTail: string, asked: readonly unknown[], output: string): void
}

/** Each connection holds its bytes from `room`. */
export function createConnectionMemory(room: Share, customerId: string): ConnectionMemory {
  let last: { readonly id: string; readonly items: Buffer; readonly held: Held } | undefined

  function forget(): void {
    last?.held[Symbol.dispose]()
    last = undefined
  }

  return {
    find: (responseId) => (last?.id === responseId ? last?.items : undefined),
    answer(idTail, asked, output) {
      forget()
      const lists = [JSON.stringify(asked), output].map((list) => list.slice(1, -1))
      const items = Buffer.from(`[${lists.filter((list) => list !== '').join()}]`)
      const held = room.take(customerSubject(customerId), items.length)
      if (typeof held !== 'string') last = { id: responseIdOf(idTail), items, held }
    },
    [Symbol.dispose]: forget,
  }
}

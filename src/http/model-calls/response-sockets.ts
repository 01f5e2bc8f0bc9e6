/**
 * The WebSockets of this process: how many a customer may have, how long one may be idle, and their end. One timer looks
 * after all of them.
 */
import { createShare, type Excess, type SharedRunning } from '../../platform/admission/share.ts'

export interface ResponseSocket {
  readonly openedAtMs: number
  /** Since when it has nothing to do; undefined while a call runs on it. */
  readonly idleSinceMs: () => number | undefined
  /** Since when a message is on its way; undefined if none is. */
  readonly arrivingSinceMs: () => number | undefined
  /** Asks its client whether it is there; false if it did not answer the last time. */
  ping(): boolean
  /** Ends it in good order. */
  end(reason: EndReason): void
  /** Cuts it off. */
  cutOff(): void
}

export type EndReason = 'idle' | 'old' | 'closing'

/** A place among the sockets of a customer, until it is disposed of. */
export interface SocketPlace extends Disposable {
  watch(socket: ResponseSocket): void
}

export interface ResponseSockets {
  readonly perCustomerMax: number
  /** `own`, `all`: the limit that is reached. */
  take(customerId: string): SocketPlace | Excess | 'closing'
  /** Ends those that are idle, and the others after their calls; cuts off what is left after this time. */
  close(withinMs: number): void
}

export interface SocketTerms {
  readonly perCustomerMax: number
  readonly idleMsMax: number
  /** From one byte of a message to its end. */
  readonly arrivalMsMax: number
  readonly ageMsMax: number
  readonly everyMs: number
}

/** OpenAI ends a connection after an hour, too. */
export const SOCKET_TERMS: SocketTerms = {
  perCustomerMax: 100,
  idleMsMax: 10 * 60_000,
  arrivalMsMax: 60_000,
  ageMsMax: 60 * 60_000,
  everyMs: 20_000,
}

export function createResponseSockets(
  running: SharedRunning,
  /** Others need connections, too. */
  totalMax: number,
  terms: SocketTerms = SOCKET_TERMS,
): ResponseSockets {
  const places = createShare({ ownMax: terms.perCustomerMax, allMax: totalMax }, running)
  const sockets = new Set<ResponseSocket>()
  let timer: NodeJS.Timeout | undefined
  let isClosing = false

  function look(): void {
    const nowMs = performance.now()
    for (const socket of sockets) {
      const idleSinceMs = socket.idleSinceMs()
      const arrivingSinceMs = socket.arrivingSinceMs()
      if (arrivingSinceMs !== undefined && nowMs - arrivingSinceMs > terms.arrivalMsMax)
        socket.cutOff()
      else if (!isClosing && !socket.ping()) socket.cutOff()
      else if (idleSinceMs === undefined) continue
      else if (isClosing) socket.end('closing')
      else if (nowMs - socket.openedAtMs > terms.ageMsMax) socket.end('old')
      else if (nowMs - idleSinceMs > terms.idleMsMax) socket.end('idle')
    }
  }

  return {
    perCustomerMax: terms.perCustomerMax,
    take(customerId) {
      if (isClosing) return 'closing'
      const held = places.take(customerId)
      if (typeof held === 'string') return held
      let watched: ResponseSocket | undefined
      return {
        watch(socket) {
          watched = socket
          sockets.add(socket)
          timer ??= setInterval(look, terms.everyMs).unref()
        },
        [Symbol.dispose]() {
          held[Symbol.dispose]()
          if (watched) sockets.delete(watched)
          if (sockets.size > 0) return
          clearInterval(timer)
          timer = undefined
        },
      }
    },
    close(withinMs) {
      isClosing = true
      const cutOffAll = (): void => {
        for (const socket of sockets) socket.cutOff()
      }
      setTimeout(cutOffAll, withinMs).unref()
      if (sockets.size === 0) return
      look()
      clearInterval(timer)
      timer = setInterval(look, CLOSING_EVERY_MS).unref()
    },
  }
}

const CLOSING_EVERY_MS = 100

import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { Client } from '../../gateway/calls/client.ts'
import { refusalBody, refusals, type Refusal } from '../../gateway/calls/refusal.ts'

/** A client that reads nothing for this long, while its connection is full, is disconnected. */
const WRITE_STALL_MS = 60_000
/** As for streams over HTTP: meanwhile the upstream is not read either. */
const STREAM_STALL_MS = 30_000

/** The client of one call on a WebSocket, which gets each event of the stream as a message. */
export interface SocketClient extends Client {
  /** The client hung up. */
  left(): void
  /** The call is over: nothing more is told of the client. */
  ended(): void
  /** After an internal error: nobody knows how much of an answer was sent. */
  fail(): void
}

/** The error as a message, with the status that it would have over HTTP. */
export function errorMessage(refused: Refusal): string {
  return `{"type":"error","status":${refused.status},${refusalBody(refused).slice(1)}`
}

export function createSocketClient(ws: WebSocket, socket: Socket, origin: string): SocketClient {
  const callbacks: (() => void)[] = []
  let isOver = false

  const isOpen = (): boolean => ws.readyState === ws.OPEN

  function send(message: string): void {
    if (isOpen()) ws.send(message)
  }

  /** Events of a stream have their data in one line. */
  function sendEvents(text: string): void {
    for (const event of text.split('\n\n')) {
      const at = event.indexOf('data: ')
      if (at !== -1) send(event.slice(at + 'data: '.length))
    }
  }

  return {
    refuse: (refused) => send(errorMessage(refused)),
    answer: send,
    // Pings keep the connection open while an upstream is silent.
    expectStream() {},
    beginStream() {},
    write(text, waitMsMax) {
      sendEvents(text)
      return isOpen() && socket.writableNeedDrain
        ? untilDrained(ws, socket, Math.min(STREAM_STALL_MS, waitMsMax))
        : undefined
    },
    endStream: sendEvents,
    hasLeft: () => !isOpen(),
    onLeave: (callback) => void callbacks.push(callback),
    cutOff: () => ws.terminate(),
    origin: () => origin,
    left() {
      if (!isOver) for (const callback of callbacks.splice(0)) callback()
    },
    ended() {
      isOver = true
    },
    fail() {
      send(errorMessage(refusals.internalError()))
      ws.close(1011, 'internal error')
    },
  }
}

/** Resolves once the client has read what was sent, or is gone: it is cut off after this time. */
export function untilDrained(
  ws: WebSocket,
  socket: Socket,
  stallMs = WRITE_STALL_MS,
): Promise<void> {
  if (ws.readyState !== ws.OPEN || !socket.writableNeedDrain) return Promise.resolve()
  return new Promise((resolve) => {
    const timer = setTimeout(() => ws.terminate(), stallMs)
    const done = (): void => {
      clearTimeout(timer)
      socket.off('drain', done)
      ws.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    ws.on('close', done)
  })
}

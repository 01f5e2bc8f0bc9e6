import type { ServerResponse } from 'node:http'

export function hasLeft(raw: ServerResponse): boolean {
  return raw.destroyed && !raw.writableFinished
}

/** Ends the connection of a client before its answer is whole. */
export function cutOff(raw: ServerResponse): void {
  // The platform leaves the connection open if the answer's turn on it has not come.
  if (!raw.socket) raw.once('socket', (socket) => socket.destroy())
  raw.destroy()
}

export function onLeave(raw: ServerResponse, callback: () => void): void {
  raw.once('close', () => {
    if (!raw.writableFinished) callback()
  })
}

/**
 * Calls back once the answer has ended or its client has left: at once if it left before, while the caller or the
 * database was waited for. `close` is not emitted again.
 */
export function whenClosed(raw: ServerResponse, callback: () => void): void {
  if (raw.destroyed || raw.closed) callback()
  else raw.once('close', callback)
}

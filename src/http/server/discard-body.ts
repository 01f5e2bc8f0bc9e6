import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Time for a client to read an early answer before its connection is closed. */
const DISCARD_MS_MAX = 10_000
/** What is ignored is read at this pace: a body of the usual limit within five seconds. */
const SLICE_BYTES = 1024 * 1024
const SLICE_MS = 250

/**
 * Reads and ignores the rest of a request that is answered already, so that the client, which may read only after it
 * has sent everything, gets the answer. Closes the connection if the rest takes too long.
 */
export function discardBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const { socket } = request
  closeLater(socket)
  readSlowly(request)
  const timer = setTimeout(() => socket.destroy(), DISCARD_MS_MAX)
  timer.unref()
  request.once('close', () => clearTimeout(timer))
}

/** Reads the rest of the body in slices: at full speed, discarded bytes could keep the processor busy. */
function readSlowly(request: IncomingMessage): void {
  let bytes = 0
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes < SLICE_BYTES) return
    bytes = 0
    request.pause()
    setTimeout(() => request.resume(), SLICE_MS).unref()
  })
  request.resume()
}

/**
 * Node closes the connection of a client that wants no other answer on it as soon as the answer is sent. If bytes of the
 * client are still to come, the operating system then resets the connection, and the answer is lost.
 */
function closeLater(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    const timer = setTimeout(() => socket.destroy(), DISCARD_MS_MAX)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
  }
}

import type { Socket } from 'node:net'
import { buildConnector } from 'undici'

/** How long a failed write waits for an answer that may already be arriving; the end of a closed connection arrives at once. */
const READ_MS_MAX = 1_000

type Written = (error?: Error | null) => void

/**
 * Connections for requests that upstreams may refuse before reading all of them. Such an upstream answers and closes
 * the connection, so the next write fails, and Node would destroy the socket with the answer unread. Here a failed
 * write is reported only after reading has ended.
 */
export function connectForUploads(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options)
  return (target, callback) => {
    connect(target, (...connected) => {
      const [, socket] = connected
      if (socket) readBeforeFailing(socket)
      callback(...connected)
    })
  }
}

// Overrides `_write` and `_writev`, which report the result of a write, and not `write`, which does not.
/* oxlint-disable no-underscore-dangle */
function readBeforeFailing(socket: Socket): void {
  const write = socket._write.bind(socket)
  const writeAll = socket._writev?.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, failingLate(done))
  if (writeAll) socket._writev = (chunks, done) => writeAll(chunks, failingLate(done))
}
/* oxlint-enable no-underscore-dangle */

/** Delays the error of a write to a closed connection: when reading ends, the socket closes and ends the write. */
function failingLate(done: Written): Written {
  return (error) => {
    if (isClosedByPeer(error)) setTimeout(done, READ_MS_MAX, error).unref()
    else done(error)
  }
}

function isClosedByPeer(error: NodeJS.ErrnoException | null | undefined): boolean {
  return error?.code === 'ECONNRESET' || error?.code === 'EPIPE'
}

import type { Socket } from 'node:net'
import { buildConnector } from 'undici'

/** For an answer that is on its way already; a closed connection's end shows at once. */
const READ_MS_MAX = 1_000

type Written = (error?: Error | null) => void

/**
 * Connections for requests that upstreams refuse before they have read them. Such an upstream answers
 * and closes, and the next write fails; Node would then give up the connection with the answer
 * unread. Here a failed write waits until the reading has come to its end.
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

// Not `write`, which says nothing of how it ended: these are what Node calls for the writing itself.
/* oxlint-disable no-underscore-dangle */
function readBeforeFailing(socket: Socket): void {
  const write = socket._write.bind(socket)
  const writeAll = socket._writev?.bind(socket)
  socket._write = (chunk, encoding, done) => write(chunk, encoding, failingLate(done))
  if (writeAll) socket._writev = (chunks, done) => writeAll(chunks, failingLate(done))
}
/* oxlint-enable no-underscore-dangle */

/** The end of the reading closes the socket, and with it this write. */
function failingLate(done: Written): Written {
  return (error) => {
    if (isClosedByPeer(error)) setTimeout(done, READ_MS_MAX, error).unref()
    else done(error)
  }
}

function isClosedByPeer(error: NodeJS.ErrnoException | null | undefined): boolean {
  return error?.code === 'ECONNRESET' || error?.code === 'EPIPE'
}

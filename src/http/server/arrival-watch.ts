import type { IncomingMessage } from 'node:http'

/**
 * Disconnects clients whose request body does not arrive in time. The server's own timeout is as long as the longest
 * upload needs; this one applies to every other body. Checking all of them at intervals costs less than a timer for
 * each.
 */
export interface ArrivalWatch {
  begin(request: IncomingMessage): void
  /** The body is complete. */
  end(request: IncomingMessage): void
  stop(): void
}

const LOOK_EVERY_MS = 5_000

export function createArrivalWatch(
  timeoutMs: number,
  onLate: (request: IncomingMessage) => void,
): ArrivalWatch {
  const arriving = new Map<IncomingMessage, number>()
  const timer = setInterval(() => {
    const latest = performance.now() - timeoutMs
    for (const [request, sinceMs] of arriving) {
      const isOver = request.complete || request.destroyed
      if (!isOver && sinceMs > latest) continue
      arriving.delete(request)
      if (!isOver) onLate(request)
    }
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    begin: (request) => void arriving.set(request, performance.now()),
    end: (request) => void arriving.delete(request),
    stop: () => clearInterval(timer),
  }
}

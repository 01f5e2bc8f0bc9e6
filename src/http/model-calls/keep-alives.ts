/**
 * Keeps the connections of streams open while an upstream is silent, because proxies close connections on which nothing
 * passes for a minute or less. What is sent is a comment of the event stream: no client takes it for content or
 * progress, and no limit on an upstream's silence counts it. One timer looks at all streams of the process.
 */
export interface KeepAlives {
  /** `send` is called whenever the stream was quiet for the interval; first after `firstAfter` intervals. */
  watch(send: () => void, firstAfter: number): KeptAlive
}

export interface KeptAlive {
  /** Something was sent. */
  sent(): void
  end(): void
}

/**
 * A comment that keeps a stream alive. No empty line follows it: some clients dispatch an event without data at one.
 */
export const KEEP_ALIVE_COMMENT = ': keep-alive\n'
/** The timer looks so often in an interval, so a comment is late by at most a fifth of it. */
const LOOKS = 5

const NONE: KeptAlive = { sent() {}, end() {} }

interface Watched {
  readonly send: () => void
  dueAtMs: number
}

/** Returns what keeps streams alive. With an `intervalMs` of 0 nothing is ever sent. */
export function createKeepAlives(intervalMs: number): KeepAlives {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const nowMs = performance.now()
    for (const stream of watched) {
      if (stream.dueAtMs > nowMs) continue
      stream.dueAtMs = nowMs + intervalMs
      stream.send()
    }
  }

  function end(stream: Watched): void {
    watched.delete(stream)
    if (watched.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    watch(send, firstAfter) {
      if (intervalMs === 0) return NONE
      const stream: Watched = { send, dueAtMs: performance.now() + intervalMs * firstAfter }
      watched.add(stream)
      timer ??= setInterval(look, intervalMs / LOOKS).unref()
      return {
        sent: () => void (stream.dueAtMs = performance.now() + intervalMs),
        end: () => end(stream),
      }
    },
  }
}

import type { Dispatcher } from 'undici'

/** How long an upstream may be silent after the head of an answer, in milliseconds. */
export interface SilenceLimits {
  /**
   * Before the first byte of the content. Upstreams may send the head at once and generate afterwards, and may keep the
   * connection alive meanwhile by white space or by comments of an event stream, which are not content.
   */
  readonly firstByteMs: number
  /** Between two reads of the content, unless the model may think, and within the body of an error. */
  readonly idleMs: number
}

export interface SilenceWatch {
  /** Records data of the body; called after the reader has paused the upstream, if it does. */
  received(chunk: Buffer): void
  /** Whether the content so far lets the model think before it goes on: it then has `firstByteMs` for that. */
  mayThink(this: void, is: boolean): void
  /** Ends the watch; must be called at the end of every answer. */
  stop(): void
}

/** An upstream was silent for longer than its limit. */
export class SilentTooLong extends Error {
  readonly code = 'SILENT_TOO_LONG'
  readonly reason: 'first_byte_timeout' | 'idle_timeout'
  constructor(reason: 'first_byte_timeout' | 'idle_timeout', ms: number) {
    super(`no data for ${ms} ms`)
    this.name = 'SilentTooLong'
    this.reason = reason
  }
}

/**
 * Aborts an answer with `SilentTooLong` when its upstream is silent for too long. Called with the head of the answer.
 * Chunks only store their time: a single timer, armed again when it fires, compares it with the limit. While the reader
 * has paused the upstream, no time counts; after that, the upstream has at most twice the limit.
 */
export function watchSilence(
  { firstByteMs, idleMs }: SilenceLimits,
  controller: Pick<Dispatcher.DispatchController, 'paused' | 'abort'>,
  status: number,
): SilenceWatch {
  // The body of an error is not generated, so it follows its head.
  let hasContent = status >= 300
  let isThinking = false
  let heardAtMs = performance.now()
  /** The reader paused the upstream at the last chunk; when it resumed is unknown. */
  let hasPaused = false
  let hasStopped = false
  // The limit may change to `idleMs` before the timer fires, so the timer is never armed for longer.
  let timer = setTimeout(check, Math.min(firstByteMs, idleMs))

  function limitMs(): number {
    return hasContent && !isThinking ? idleMs : firstByteMs
  }

  function msLeft(): number {
    return limitMs() - (performance.now() - heardAtMs)
  }

  function check(): void {
    if (controller.paused || hasPaused) {
      heardAtMs = performance.now()
      hasPaused = controller.paused
    }
    // Data may wait unread if this process was late; it is read before an immediate runs.
    if (msLeft() <= 0) setImmediate(abortIfSilent)
    else rearm()
  }

  function abortIfSilent(): void {
    if (hasStopped) return
    if (msLeft() > 0) return rearm()
    const reason = hasContent ? 'idle_timeout' : 'first_byte_timeout'
    controller.abort(new SilentTooLong(reason, limitMs()))
  }

  function rearm(): void {
    timer = setTimeout(check, Math.min(Math.ceil(msLeft()), idleMs))
  }

  return {
    received(chunk) {
      heardAtMs = performance.now()
      hasPaused = controller.paused
      hasContent ||= hasContentAtStart(chunk)
    },
    mayThink(is) {
      isThinking = is
    },
    stop() {
      hasStopped = true
      clearTimeout(timer)
    },
  }
}

const COLON = 0x3a

/** Whether the first byte that is not white space belongs to content; a comment of an event stream begins with a colon. */
function hasContentAtStart(chunk: Buffer): boolean {
  for (const byte of chunk) {
    const isSpace = byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
    if (!isSpace) return byte !== COLON
  }
  return false
}

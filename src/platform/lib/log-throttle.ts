import { errorText } from './error-text.ts'

/**
 * Limits the lines of one cause. A cause is a level, an event and, where the line has an error, its code or its
 * message. In each window of ten seconds the first 20 lines of a cause are written and the others counted; at
 * the end of the window one line of the event gives the number of suppressed lines (`suppressed`), by cause.
 * Each cause has its own limit, so a frequent cause never hides a rare one. Only the first line of a cause
 * carries stack traces, and again one after ten minutes.
 */
export interface LogThrottle {
  /**
   * `first`: write the line with stack traces. `again`: write it without them. `false`: suppressed and counted.
   */
  admit(level: string, event: string, error: Error | undefined, nowMs: number): Admitted
  /** Summaries of the windows that ended by then; call it before `admit`. */
  takeEnded(nowMs: number): Summary[]
  /** Summaries of all windows, including open ones. */
  takeAll(nowMs: number): Summary[]
  /** Suppressed lines still wait for their summary. */
  readonly isWaiting: boolean
}

export type Admitted = 'first' | 'again' | false

export interface Summary {
  readonly level: string
  readonly event: string
  readonly facts: {
    readonly suppressed: number
    readonly in_seconds: number
    readonly by_cause?: { readonly [cause: string]: number }
  }
}

interface Cause {
  lines: number
  suppressed: number
  stackAtMs: number
  seenAtMs: number
}

interface Event {
  readonly level: string
  readonly event: string
  startedAtMs: number
  suppressed: number
  readonly causes: Map<string, Cause>
}

export const SUMMARY_MS = 10_000
const LINES_MAX = 20
const STACK_AGAIN_MS = 600_000
/**
 * The most causes of one event. Further ones share one entry: an event whose messages all differ is not split by cause.
 */
const CAUSES_MAX = 50
/** Far more than the program has; the least recently seen events are forgotten. */
const EVENTS_MAX = 1_000
const CAUSE_LENGTH_MAX = 120
const OTHER = 'other'

export function createLogThrottle(): LogThrottle {
  /** Least recently seen first. */
  const events = new Map<string, Event>()
  /** Events with suppressed lines. */
  const waiting = new Set<Event>()
  let evicted: Summary[] = []

  function findEvent(level: string, event: string, nowMs: number): Event {
    const key = `${level} ${event}`
    const found = events.get(key)
    const entry = found ?? { level, event, startedAtMs: nowMs, suppressed: 0, causes: new Map() }
    if (found) events.delete(key)
    events.set(key, entry)
    if (events.size > EVENTS_MAX) forgetOldest()
    return entry
  }

  function forgetOldest(): void {
    const [key, oldest] = events.entries().next().value as [string, Event]
    if (oldest.suppressed > 0) evicted.push(summarize(oldest))
    waiting.delete(oldest)
    events.delete(key)
  }

  function take(nowMs: number, isOver: (entry: Event) => boolean): Summary[] {
    if (waiting.size === 0 && evicted.length === 0) return []
    const summaries = evicted
    evicted = []
    for (const entry of waiting) {
      if (!isOver(entry)) continue
      summaries.push(summarize(entry))
      waiting.delete(entry)
      restart(entry, nowMs)
    }
    return summaries
  }

  return {
    admit(level, event, error, nowMs) {
      const entry = findEvent(level, event, nowMs)
      // An event with suppressed lines ends in `takeEnded`, which writes its summary.
      if (!waiting.has(entry) && nowMs - entry.startedAtMs >= SUMMARY_MS) restart(entry, nowMs)
      const cause = findCause(entry, causeOf(error))
      cause.seenAtMs = nowMs
      if (cause.lines >= LINES_MAX) {
        cause.suppressed += 1
        entry.suppressed += 1
        waiting.add(entry)
        return false
      }
      cause.lines += 1
      if (nowMs - cause.stackAtMs < STACK_AGAIN_MS) return 'again'
      cause.stackAtMs = nowMs
      return 'first'
    },
    takeEnded: (nowMs) => take(nowMs, (entry) => nowMs - entry.startedAtMs >= SUMMARY_MS),
    takeAll: (nowMs) => take(nowMs, () => true),
    get isWaiting() {
      return waiting.size > 0
    },
  }
}

/** A cause is remembered beyond its window, so that its stack trace is not repeated too soon. */
function restart(entry: Event, nowMs: number): void {
  entry.startedAtMs = nowMs
  entry.suppressed = 0
  for (const [name, cause] of entry.causes) {
    cause.lines = 0
    cause.suppressed = 0
    if (nowMs - cause.seenAtMs >= STACK_AGAIN_MS) entry.causes.delete(name)
  }
}

function findCause(entry: Event, name: string): Cause {
  const known = entry.causes.get(name)
  if (known) return known
  if (entry.causes.size >= CAUSES_MAX && name !== OTHER) return findCause(entry, OTHER)
  const cause = { lines: 0, suppressed: 0, stackAtMs: -Infinity, seenAtMs: 0 }
  entry.causes.set(name, cause)
  return cause
}

/** Numbers and ids in a message do not make another cause. */
function causeOf(error: Error | undefined): string {
  if (!error) return ''
  const { code, cause, name } = error as Error & { code?: unknown }
  if (typeof code === 'string' || typeof code === 'number') return String(code)
  if (cause instanceof Error) return causeOf(cause)
  return `${name}: ${errorText(error)}`
    .slice(0, CAUSE_LENGTH_MAX)
    .replace(/[0-9a-f]*\d[0-9a-f-]*/g, '#')
}

function summarize({ level, event, suppressed, causes }: Event): Summary {
  const counts = [...causes].filter(([name, cause]) => name !== '' && cause.suppressed > 0)
  const byCause = Object.fromEntries(counts.map(([name, cause]) => [name, cause.suppressed]))
  const facts = { suppressed, in_seconds: SUMMARY_MS / 1_000 }
  return { level, event, facts: counts.length > 0 ? { ...facts, by_cause: byCause } : facts }
}

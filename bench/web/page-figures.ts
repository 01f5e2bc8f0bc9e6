/** The figures that Lighthouse computes from observations: time to interactive, blocking time, layout shift. */
import type { LoggedRequest, LongTask, Shift } from './web-results.ts'

/** How long the page's script and the network must be quiet. */
export const QUIET_MS = 5_000
/** A quiet network has at most this many open requests. */
const IN_FLIGHT_MAX = 2
/** The part of a task that does not count as blocking. */
const NOTICED_MS = 50
const SHIFT_GAP_MS = 1_000
const SHIFT_WINDOW_MS = 5_000

export interface Observed {
  readonly firstPaintMs: number
  readonly contentLoadedMs: number
  readonly longTasks: readonly LongTask[]
  readonly requests: readonly LoggedRequest[]
  /** The end of the observation. */
  readonly untilMs: number
}

interface Span {
  readonly startMs: number
  readonly endMs: number
}

/**
 * The end of the last long task before the first five seconds without a long task and with at most two open GETs;
 * not before the first paint. Undefined if there are no such seconds.
 */
export function findInteractive(observed: Observed): number | undefined {
  const { firstPaintMs, contentLoadedMs } = observed
  const networks = quietNetwork(observed)
  const found = quietProcessor(observed).find((processor) =>
    networks.some(
      (network) =>
        Math.min(processor.endMs, network.endMs) - Math.max(processor.startMs, network.startMs) >=
        QUIET_MS,
    ),
  )
  return found && Math.max(found.startMs, firstPaintMs, contentLoadedMs)
}

/** The sum over the long tasks between the first paint and `interactiveMs` of their time beyond 50 ms. */
export function blockingTime(observed: Observed, interactiveMs: number): number {
  const { firstPaintMs, longTasks } = observed
  return longTasks.reduce((sum, { startMs, durationMs }) => {
    const end = Math.min(startMs + durationMs, interactiveMs)
    return sum + Math.max(0, end - Math.max(startMs, firstPaintMs) - NOTICED_MS)
  }, 0)
}

/** The largest sum of shifts that follow each other within a second and span at most five seconds. */
export function cumulativeShift(shifts: readonly Shift[]): number {
  let largest = 0
  let sum = 0
  let first = -Infinity
  let last = -Infinity
  for (const { atMs, value } of shifts) {
    const isSameWindow = atMs - last < SHIFT_GAP_MS && atMs - first < SHIFT_WINDOW_MS
    if (!isSameWindow) [sum, first] = [0, atMs]
    sum += value
    last = atMs
    largest = Math.max(largest, sum)
  }
  return largest
}

function quietProcessor({ firstPaintMs, longTasks, untilMs }: Observed): Span[] {
  const spans: Span[] = []
  let startMs = firstPaintMs
  for (const task of longTasks) {
    const endMs = task.startMs + task.durationMs
    if (endMs <= firstPaintMs) continue
    spans.push({ startMs, endMs: task.startMs })
    startMs = endMs
  }
  return [...spans, { startMs, endMs: untilMs }]
}

function quietNetwork({ requests, untilMs }: Observed): Span[] {
  const changes = requests
    .filter(({ method }) => method === 'GET')
    .flatMap(({ startMs, endMs }) => [
      { atMs: startMs, change: 1 },
      { atMs: endMs ?? untilMs, change: -1 },
    ])
    .sort((a, b) => a.atMs - b.atMs)
  const spans: Span[] = []
  let inFlight = 0
  let startMs = 0
  for (const { atMs, change } of changes) {
    const wasQuiet = inFlight <= IN_FLIGHT_MAX
    inFlight += change
    if (wasQuiet && inFlight > IN_FLIGHT_MAX) spans.push({ startMs, endMs: atMs })
    if (!wasQuiet && inFlight <= IN_FLIGHT_MAX) startMs = atMs
  }
  return inFlight <= IN_FLIGHT_MAX ? [...spans, { startMs, endMs: untilMs }] : spans
}

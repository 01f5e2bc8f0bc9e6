/**
 * How old the data on the page is where a replica of the database answered and was behind: its answers carry the moment
 * up to which they are whole.
 */
const AS_OF_HEADER = 'x-data-as-of'
/** Nobody sees a difference of some seconds in lists and sums of usage. */
const SHOWN_FROM_SECONDS = 5

const seconds = new Map<string, number>()
const listeners = new Set<() => void>()

/** By both clocks of the server, for the browser's may be wrong. */
export function noteDataAge(path: string, { headers }: Response): void {
  const age =
    (Date.parse(headers.get('date') ?? '') - Date.parse(headers.get(AS_OF_HEADER) ?? '')) / 1_000
  if (age >= SHOWN_FROM_SECONDS) seconds.set(path, Math.round(age))
  else if (!seconds.delete(path)) return
  notify()
}

/** Another page shows other data. */
export function forgetDataAges(): void {
  if (seconds.size === 0) return
  seconds.clear()
  notify()
}

/** Of the oldest; undefined if nothing is noticeably old. */
export function dataAgeSeconds(): number | undefined {
  return seconds.size === 0 ? undefined : Math.max(...seconds.values())
}

export function onDataAge(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function notify(): void {
  for (const listener of listeners) listener()
}

const SECOND_MS = 1_000

/** Reads `Retry-After`, in milliseconds: seconds, or a date (RFC 9110, 10.2.3). */
export function readRetryAfter(retryAfter: string | undefined, at: Date): number | undefined {
  if (retryAfter === undefined) return undefined
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * SECOND_MS
  const untilMs = Date.parse(retryAfter)
  return Number.isNaN(untilMs) ? undefined : untilMs - at.getTime()
}

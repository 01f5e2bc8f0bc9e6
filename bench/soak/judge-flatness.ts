/** Whether a series of readings, one a minute, grows: by the median of the slopes between all pairs (Theil and Sen). */
import { median } from '../summarise-rounds.ts'

export interface Judged {
  readonly perHour: number
  readonly isFlat: boolean
}

/** Fewer readings say nothing about an hour. */
export const READINGS_MIN = 10

/** Undefined with too few readings after the warm-up. */
export function judgeFlatness(
  readings: readonly number[],
  limits: { readonly warmUpMinutes: number; readonly perHourMax: number },
): Judged | undefined {
  const judged = readings.slice(limits.warmUpMinutes)
  if (judged.length < READINGS_MIN) return undefined
  const slopes = judged.flatMap((value, at) =>
    judged.slice(at + 1).map((later, after) => (later - value) / (after + 1)),
  )
  const perHour = median(slopes) * 60
  return { perHour, isFlat: perHour <= limits.perHourMax }
}

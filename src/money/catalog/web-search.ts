/**
 * Searches of the web that a provider runs for the model while it answers, billed by use. The results become a part of
 * the prompt, and the model is run again after each use, so the tokens of one call may add up to several prompts.
 */
import type { UnitCounts } from './prices.ts'

export const WEB_SEARCH_UNIT = 'web_searches'

/** A request that sets no number gets this one. */
export const WEB_SEARCHES_DEFAULT = 3
/** A higher number is lowered to this one: each use raises the amount of the hold. */
export const WEB_SEARCHES_MAX = 5

/** Returns the number of searches that a client asked for, within our limits; 0 for a number that is none. */
export function webSearchesAsked(asked: unknown): number {
  if (asked === undefined || asked === null) return WEB_SEARCHES_DEFAULT
  return typeof asked === 'number' && asked >= 1 ? Math.min(Math.floor(asked), WEB_SEARCHES_MAX) : 0
}

/** Returns the searches of a settled call; `units` is the JSON of its resolution. */
export function webSearchesOf(units: string | null | undefined): number {
  if (!units?.includes(WEB_SEARCH_UNIT)) return 0
  return (JSON.parse(units) as UnitCounts)[WEB_SEARCH_UNIT] ?? 0
}

/** Counted as the database counts: a character outside of the first 65,536 is one. */
const NAME = /^.{3,50}$/su

/** The name without spaces around it; undefined where it has not 3 to 50 characters, or is no text. */
export function readKeyName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.trim()
  return NAME.test(name) ? name : undefined
}

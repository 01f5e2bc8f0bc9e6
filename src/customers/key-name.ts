/** Counts code points, as the database does: a character outside the first 65,536 counts as one. */
const NAME = /^.{3,50}$/su

/** Returns the trimmed name, or undefined if it is not a string of 3 to 50 characters. */
export function readKeyName(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const name = value.trim()
  return NAME.test(name) ? name : undefined
}

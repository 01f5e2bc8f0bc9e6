/** Maps one entry at a time, so that the whole list is never in memory. */
export function* lazily<From, To>(
  list: Iterable<From>,
  make: (entry: From) => To,
): Generator<To, void> {
  for (const entry of list) yield make(entry)
}

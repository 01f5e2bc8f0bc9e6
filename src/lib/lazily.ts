/** Each entry made when it is taken, so that a long list of them is never there at once. */
export function* lazily<From, To>(
  list: Iterable<From>,
  make: (entry: From) => To,
): Generator<To, void> {
  for (const entry of list) yield make(entry)
}

/** Random numbers from a seed, so that a failed round can be repeated. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number
  pick<Item>(items: readonly Item[]): Item
  shuffled<Item>(items: readonly Item[]): Item[]
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1))
  return {
    next,
    between,
    pick: (items) => items[between(0, items.length - 1)] as never,
    shuffled(items) {
      const shuffled = [...items]
      for (let index = shuffled.length - 1; index > 0; index--) {
        const other = between(0, index)
        ;[shuffled[index], shuffled[other]] = [shuffled[other] as never, shuffled[index] as never]
      }
      return shuffled
    },
  }
}

/** A seed for a name: the same name gives the same seed. */
export function seedOf(text: string): number {
  let hash = 2166136261
  for (const character of text)
    hash = Math.imul(hash ^ (character.codePointAt(0) as number), 16777619)
  return hash >>> 0
}

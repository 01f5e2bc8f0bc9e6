/** A map that forgets what was not used for longest. */
export interface RecentMap<Value> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
}

export function createRecentMap<Value>(entriesMax: number): RecentMap<Value> {
  // A Map keeps the order of insertion, so its first key is the one that was not touched for longest.
  const entries = new Map<string, Value>()
  return {
    get(key) {
      const value = entries.get(key)
      if (value === undefined) return undefined
      entries.delete(key)
      entries.set(key, value)
      return value
    },
    set(key, value) {
      entries.set(key, value)
      if (entries.size > entriesMax) entries.delete(entries.keys().next().value as string)
    },
  }
}

/** Whether objects and lists are nested deeper than this. Looks no deeper, so that no depth overflows the stack. */
export function isDeeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depthMax === 0) return true
  if (Array.isArray(value)) return value.some((inner) => isDeeperThan(inner, depthMax - 1))
  for (const field in value)
    if (isDeeperThan((value as Record<string, unknown>)[field], depthMax - 1)) return true
  return false
}

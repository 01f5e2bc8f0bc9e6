import type { ConfiguredModel } from './model.ts'

/** Returns the distinct vendors of these models, sorted by name. */
export function vendorsOf(
  models: readonly ConfiguredModel[],
  modelIds: readonly string[],
): string[] {
  const concerned = models.filter((model) => modelIds.includes(model.id))
  return [...new Set(concerned.map((model) => model.vendor))].sort()
}

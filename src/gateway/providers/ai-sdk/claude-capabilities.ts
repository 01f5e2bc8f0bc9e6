import { getModelCapabilities } from '@ai-sdk/anthropic/internal'

type Capabilities = ReturnType<typeof getModelCapabilities>

/** By the upstreams' names of the catalog's models, which are few: the package builds its list again on each call. */
const known = new Map<string, Capabilities>()

/** What the package knows of a Claude model. */
export function claudeCapabilities(modelId: string): Capabilities {
  let found = known.get(modelId)
  if (!found) known.set(modelId, (found = getModelCapabilities(modelId)))
  return found
}

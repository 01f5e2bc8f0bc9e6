import type { Model } from '../../money/catalog/model.ts'
import {
  agentSamples,
  audioSamples,
  chatSamples,
  embeddingSamples,
  imageSamples,
  PLACE_OF_SECRET,
  type CodeSample,
} from './code-samples.ts'

/** Returns the first call of a model with each client; empty for a model of a kind that has no operation. */
export function modelSamples(model: Model, origin: string): readonly CodeSample[] {
  const use = { origin, secret: PLACE_OF_SECRET, model: model.id }
  const { category, image } = model
  if (category === 'llm') return [...chatSamples(use), ...agentSamples(use)]
  if (category === 'embedding') return embeddingSamples(use)
  if (category === 'image') return imageSamples(use, image?.sizes[0])
  return category === 'audio' ? audioSamples(use) : []
}

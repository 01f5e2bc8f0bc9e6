import type { EmbeddingModelV4, LanguageModelV4 } from '@ai-sdk/provider'

/** The models of an upstream. Opening one sends no request. */
export interface OpenedModels {
  readonly language: (modelId: string) => LanguageModelV4
  /** Undefined if the upstream has no embeddings. */
  readonly embedding?: (modelId: string) => EmbeddingModelV4
}

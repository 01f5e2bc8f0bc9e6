import type { Model, ModelCategory } from './model.ts'

/** The models of this process, fixed for its life. */
export interface Catalog {
  findModel(id: string): Model | undefined
  /** In catalog order; `chat` is an alias of `llm`. */
  listModels(category?: ModelCategory | 'chat'): readonly Model[]
}

export function createCatalog(models: readonly Model[]): Catalog {
  const byId = new Map(models.map((model) => [model.id, model]))
  return {
    findModel: (id) => byId.get(id),
    listModels(category) {
      const wanted = category === 'chat' ? 'llm' : category
      return wanted === undefined ? models : models.filter((model) => model.category === wanted)
    },
  }
}

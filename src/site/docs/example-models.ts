import type { Model } from '../../money/catalog/model.ts'
import type { ExampleModels } from './doc-page.ts'

/** Models that can be called, those that people know first; the catalog decides what there is. */
export function exampleModels(models: readonly Model[]): ExampleModels {
  const offered = models.filter(({ routes }) => routes.length > 0)
  const chats = offered.filter(
    ({ category, supportsTools, imageTokensMax }) =>
      category === 'llm' && supportsTools && imageTokensMax > 0,
  )
  const chat = preferred(chats, ['gpt-5-mini', 'gpt-4o-mini']) ?? 'MODELO'
  return {
    chat,
    claude: preferred(chats, ['claude-sonnet-5'], /^claude.*sonnet/) ?? chat,
    claudeSmall: preferred(chats, ['claude-haiku-4-5'], /^claude.*haiku/) ?? chat,
    embedding: preferred(of(offered, 'embedding'), ['text-embedding-3-small']) ?? 'MODELO',
    image: preferred(of(offered, 'image'), ['gpt-image-1']) ?? 'MODELO',
    audio:
      preferred(
        of(offered, 'audio').filter(({ audio }) => audio?.hasTimestamps),
        ['whisper-1'],
      ) ?? 'MODELO',
  }
}

function of(models: readonly Model[], category: Model['category']): readonly Model[] {
  return models.filter((model) => model.category === category)
}

function preferred(
  models: readonly Model[],
  ids: readonly string[],
  pattern?: RegExp,
): string | undefined {
  const real = models.filter(({ vendor }) => vendor !== 'sandbox')
  const known = ids.find((id) => real.some((model) => model.id === id))
  if (known !== undefined) return known
  if (pattern) return real.find(({ id }) => pattern.test(id))?.id
  return (real[0] ?? models[0])?.id
}

/** The schemas of models and of changes of their markups, for operators. */
import Type from 'typebox'
import { listAddedModels } from '../../money/catalog/added-models.ts'
import { addedModelSchema } from '../../money/catalog/catalog-config-schema.ts'
import { listDisabledModels } from '../../money/catalog/disabled-models.ts'
import type { Model, Route } from '../../money/catalog/model.ts'
import { MODEL_CATEGORIES } from '../../money/catalog/model.ts'
import { listMarkupChanges, type MarkupChange } from '../../money/catalog/markup-changes.ts'
import type { Price } from '../../money/catalog/prices.ts'
import { jsonE4, jsonUsd } from '../../platform/lib/money.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, count, dateTime, nullable, usd, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import type { UpstreamBook } from '../upstreams/upstream-body.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

const price = answer({
  tiers: Type.Array(
    answer(
      {
        above_prompt_tokens: count,
        input: usd,
        cached_input: usd,
        cache_write: usd,
        output: usd,
        reasoning: usd,
      },
      { description: 'USD por milhão de tokens.' },
    ),
  ),
  units: Type.Record(Type.String(), usd, { description: 'USD por unidade.' }),
})

export const markupChange = answer({
  id: uuid,
  model_id: Type.String(),
  markup_multiplier: Type.Number(),
  markup_multiplier_before: Type.Number(),
  starts_at: dateTime,
  reason: Type.String(),
  created_at: dateTime,
  is_rise: Type.Boolean(),
  told_at: {
    ...nullable(dateTime),
    description: 'De um aumento: quando o último cliente foi avisado.',
  },
})

export const adminModel = answer({
  id: Type.String(),
  display_name: Type.String(),
  category: Type.Enum([...MODEL_CATEGORIES]),
  vendor: Type.String(),
  source: Type.Enum(['built_in', 'file', 'listed', 'browser'], {
    description: 'De onde vem: listed, da lista do provedor, com o preço dos dados publicados.',
  }),
  entry: { ...nullable(addedModelSchema), description: 'Como foi escrito no navegador.' },
  markup_multiplier: Type.Number({ description: 'Em vigor.' }),
  configured_markup_multiplier: Type.Number({ description: 'Da configuração.' }),
  is_disabled: Type.Boolean(),
  disabled_reason: nullable(Type.String()),
  disabled_at: nullable(dateTime),
  price,
  routes: Type.Array(
    answer({
      upstream: Type.String(),
      upstream_model: Type.String(),
      priority: Type.Integer(),
      weight: Type.Number(),
      price,
    }),
  ),
  scheduled: Type.Array(markupChange),
})

export interface ModelDeps extends Pick<HttpParts, 'db' | 'catalog'> {
  readonly upstreamBook: UpstreamBook
}

/** Returns the models in the order of the catalog, with the changes from the database. */
export async function listModelBodies({
  db,
  catalog,
  upstreamBook,
}: ModelDeps): Promise<AnswerOf<typeof adminModel>[]> {
  const entries = new Map(
    (await listAddedModels(db)).map(({ entry: { id, ...entry } }) => [id, entry]),
  )
  const changes = await listMarkupChanges(db)
  const disabled = new Map((await listDisabledModels(db)).map((one) => [one.modelId, one]))
  const now = new Date()
  return catalog.listConfigured().map((model) => {
    const own = changes.filter(({ modelId }) => modelId === model.id)
    const current = own.findLast(({ startsAt }) => startsAt <= now)
    return {
      id: model.id,
      display_name: model.displayName,
      category: model.category,
      vendor: model.vendor,
      source: sourceOf(model, entries.has(model.id), upstreamBook),
      entry: entries.get(model.id) ?? null,
      markup_multiplier: jsonE4(current?.markupE4 ?? model.markupE4),
      configured_markup_multiplier: jsonE4(model.markupE4),
      is_disabled: disabled.has(model.id),
      disabled_reason: disabled.get(model.id)?.reason ?? null,
      disabled_at: disabled.get(model.id)?.disabledAt.toISOString() ?? null,
      price: priceBody(model.price),
      routes: model.routes.map(routeBody),
      scheduled: own.filter(({ startsAt }) => startsAt > now).map(markupChangeBody),
    }
  })
}

function sourceOf(
  { id, isDiscovered }: Model,
  isWritten: boolean,
  upstreamBook: UpstreamBook,
): 'built_in' | 'file' | 'listed' | 'browser' {
  if (upstreamBook.isInFile(id)) return 'file'
  if (isWritten) return 'browser'
  return isDiscovered ? 'listed' : 'built_in'
}

/** Returns the configured model. Throws a 404 for an unknown one. */
export function getConfigured({ catalog }: Pick<HttpParts, 'catalog'>, id: string): Model {
  const found = catalog.listConfigured().find((model) => model.id === id)
  if (!found) throw new RestRefusal(404, 'model_not_found')
  return found
}

/** This node serves the committed change before it answers. If the reload fails, the notification triggers another. */
export async function reloadCatalog(deps: Pick<HttpParts, 'reloadCatalog' | 'log'>): Promise<void> {
  await deps
    .reloadCatalog()
    .catch((error: unknown) => deps.log.warn('catalog_reload_failed', { error }))
}

export function markupChangeBody(change: MarkupChange): AnswerOf<typeof markupChange> {
  return {
    id: change.id,
    model_id: change.modelId,
    markup_multiplier: jsonE4(change.markupE4),
    markup_multiplier_before: jsonE4(change.markupBeforeE4),
    starts_at: change.startsAt.toISOString(),
    reason: change.reason,
    created_at: change.createdAt.toISOString(),
    is_rise: change.markupE4 > change.markupBeforeE4,
    told_at: change.noticedAt?.toISOString() ?? null,
  }
}

function routeBody(route: Route) {
  return {
    upstream: route.upstreamId,
    upstream_model: route.upstreamModel,
    priority: route.priority,
    weight: route.weight,
    price: priceBody(route.price),
  }
}

/** Micro-USD per million tokens is pico-USD per token: a millionth of the shown price. */
const TOKENS = 1_000_000n

function priceBody({ tiers, units = {} }: Price): AnswerOf<typeof price> {
  return {
    tiers: tiers.map((tier) => ({
      above_prompt_tokens: tier.abovePromptTokens,
      input: jsonUsd(tier.input * TOKENS),
      cached_input: jsonUsd(tier.cachedInput * TOKENS),
      cache_write: jsonUsd(tier.cacheWrite * TOKENS),
      output: jsonUsd(tier.output * TOKENS),
      reasoning: jsonUsd(tier.reasoning * TOKENS),
    })),
    units: Object.fromEntries(Object.entries(units).map(([unit, each]) => [unit, jsonUsd(each)])),
  }
}

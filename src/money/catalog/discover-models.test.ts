import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findProvider } from '@pydantic/genai-prices'
import { withPriceIds } from '../../../test/harness/with-price-ids.ts'
import { builtInModels } from './built-in-models.ts'
import { createCatalog } from './catalog.ts'
import { parseCatalogConfig, type CatalogConfig } from './catalog-config-schema.ts'
import { discoverModels, type Discovered } from './discover-models.ts'
import { loadCatalog } from './load-catalog.ts'
import { promptTokensBound, quote } from './quote.ts'
import type { ListedModel } from './upstream-lists.ts'
import { pricedBy } from './upstream-presets.ts'

const at = new Date('2026-11-28T12:00:00Z')
const CONVERSION = { fxRateE4: 50_000n, markupE4: 12_500n }

/** As a server whose upstreams have these lists. */
function discover(
  lists: Readonly<Record<string, readonly (string | ListedModel)[]>>,
  config?: CatalogConfig,
): Discovered {
  const has = (id: string) => lists[id] !== undefined
  const { models, faults } = loadCatalog({ config, mode: 'live', hasUpstream: has, at })
  assert.deepEqual(faults, [])
  const upstreams = Object.keys(lists).flatMap((id) => {
    // A reseller with the names of makers.
    const priced = { ...pricedBy, openrouter: { provider: 'openrouter' } }[id]
    return priced ? [{ id, pricedBy: priced }] : []
  })
  const patterns = Array.isArray(config?.discover) ? config.discover : ['*']
  const named = Object.entries(lists).map(
    ([id, list]) =>
      [id, list.map((each) => (typeof each === 'string' ? { name: each } : each))] as const,
  )
  const overlays = config?.models ?? []
  return discoverModels({ upstreams, patterns, overlays }, models, new Map(named), at)
}

const idsOf = ({ models }: Discovered): string[] => models.map(({ id }) => id).toSorted()

/** Every name that the data has for the provider, with a context where the list of the upstream would say one. */
function wholeList(provider: string): ListedModel[] {
  const models = findProvider({ providerId: provider })?.models ?? []
  return models.flatMap(({ id, match }) => {
    const names = new Set(
      [id, ...JSON.stringify(match).matchAll(/"equals":"([^"]+)"/g)].map((each) =>
        typeof each === 'string' ? each : (each[1] as string),
      ),
    )
    return [...names].map((name) => ({ name, contextTokens: 131_072 }))
  })
}

test('every discovered model of every provider has a price and a ceiling for any request', () => {
  for (const [id, { provider }] of Object.entries(pricedBy)) {
    const { models } = discover({ [id]: wholeList(provider) })
    assert.ok(models.length > 0, id)
    for (const model of withPriceIds(models)) {
      const schedule = [model, ...model.routes].flatMap((priced) => [
        priced.price,
        ...(priced.priceSchedule ?? []).map(({ price }) => price),
      ])
      for (const price of schedule)
        for (const tier of price.tiers)
          assert.ok(tier.input > 0n && tier.output > 0n, `${id}: ${model.id}`)
      assert.ok(model.outputTokensMax >= 1 && model.outputTokensMax <= model.contextTokens)
      for (const hasFiles of [false, true]) {
        const facts = { bytes: 1_000, imageCount: 3, hasFiles, hasTools: true }
        const promptTokensMax = promptTokensBound(facts, model)
        const { ceilingNanoBrl } = quote({
          prices: model.routes.map(({ price }) => price),
          conversion: CONVERSION,
          promptTokensMax,
          outputTokensMax: model.outputTokensMax,
          choices: 1,
        })
        assert.ok(promptTokensMax >= 1_000 || promptTokensMax === model.contextTokens)
        assert.ok(ceilingNanoBrl > 1n, `${id}: ${model.id}`)
      }
      assert.ok(!model.id.includes('accounts/'), model.id)
    }
  }
})

test('what is listed and priced is discovered, once, and what is not listed is not', () => {
  const found = discover({
    openai: [
      'gpt-4o',
      'gpt-4o-2024-11-20',
      'gpt-4o-2024-05-13',
      'gpt-5.4',
      'gpt-5.4-2026-03-05',
      'gpt-5.1-codex',
      'gpt-4o-audio-preview',
      'gpt-image-2',
      'ft:gpt-4o-2024-08-06:acme::1',
      'gpt-3.5-turbo-instruct',
      'o3-deep-research',
      'text-embedding-3-small',
      'gpt-99',
    ],
  })
  assert.deepEqual(idsOf(found), ['gpt-4o-2024-05-13', 'gpt-5.1-codex', 'gpt-5.4'])
  assert.deepEqual(found.unpriced, [{ upstreamId: 'openai', name: 'gpt-99' }])
  assert.ok(found.missing.some(({ modelId }) => modelId === 'o3'))
  assert.ok(!found.missing.some(({ modelId }) => modelId === 'gpt-4o'))
})

test('the beginning of a name is not its price: the next model has another one', () => {
  const { models, unpriced } = discover({
    anthropic: ['claude-sonnet-5-9', 'claude-opus-4-20250514'],
  })
  assert.deepEqual(
    models.map(({ id, routes }) => [id, routes[0]?.upstreamModel]),
    [['claude-opus-4', 'claude-opus-4-20250514']],
  )
  assert.deepEqual(unpriced, [{ upstreamId: 'anthropic', name: 'claude-sonnet-5-9' }])
})

test('limits are those of the list, and else bound the hold by the highest and the output by the lowest of siblings', () => {
  const [listed] = discover({
    anthropic: [{ name: 'claude-opus-4-7', contextTokens: 1_100_000, outputTokensMax: 90_000 }],
  }).models
  assert.deepEqual([listed?.contextTokens, listed?.outputTokensMax], [1_100_000, 90_000])
  const limits = new Map(
    discover({
      openai: ['gpt-5.4', 'gpt-5.4-mini', 'gpt-4-turbo', 'gpt-4', 'o1'],
      xai: ['grok-4.3'],
      groq: [{ name: 'llama-3.2-1b-preview', contextTokens: 8_192 }],
    }).models.map((model) => [model.id, model]),
  )
  const outputOf = (id: string) => limits.get(id)?.outputTokensMax
  assert.equal(outputOf('gpt-5.4'), 128_000)
  assert.equal(outputOf('gpt-5.4-mini'), 128_000)
  assert.equal(outputOf('gpt-4-turbo'), 4_096)
  assert.equal(outputOf('gpt-4'), 4_096)
  assert.equal(outputOf('o1'), 100_000)
  assert.equal(limits.get('gpt-5.4')?.imageTokensMax, 100_000)
  const xai = builtInModels.filter(({ vendor }) => vendor === 'xai')
  const hidden = Math.max(...xai.map((model) => model.hiddenPromptTokensMax ?? 0))
  assert.equal(limits.get('grok-4.3')?.hiddenPromptTokensMax, hidden)
  assert.equal(limits.get('llama-3.2-1b-preview')?.vendor, 'other')
})

test('resold models name their maker or nobody, and leave out what a maker serves here', () => {
  const both = {
    openai: ['gpt-4o'],
    openrouter: ['openai/gpt-4o', 'openai/gpt-5.4', 'z-ai/glm-4.6'].map((name) => ({
      name,
      contextTokens: 200_000,
    })),
  }
  const { models } = discover(both)
  assert.deepEqual(
    models.map(({ id, vendor }) => [id, vendor]),
    [
      ['openai/gpt-5.4', 'openai'],
      ['z-ai/glm-4.6', 'other'],
    ],
  )
  assert.ok(idsOf(discover({ openrouter: both.openrouter })).includes('openai/gpt-4o'))
  const [kimi] = discover({ fireworks: ['accounts/fireworks/models/kimi-k3'] }).models
  assert.deepEqual(
    [kimi?.id, kimi?.routes[0]?.upstreamModel],
    ['kimi-k3', 'accounts/fireworks/models/kimi-k3'],
  )
})

test('a model that the operator took away does not come back under another name', () => {
  const lists = {
    openai: ['gpt-4o-2024-05-13', 'gpt-5.4'],
    openrouter: ['openai/gpt-4o', 'openai/gpt-4o-2024-11-20', 'anthropic/claude-opus-4.5'],
  }
  const off = ['gpt-4o', 'claude-opus-4-5'].map((id) => ({ id, enabled: false }))
  const found = idsOf(discover(lists, { models: off }))
  assert.deepEqual(
    found.filter((id) => /gpt-4o|opus/.test(id)),
    [],
  )
})

test('the context that a list claims stays within reason, because it bounds what a report may charge', () => {
  const claimed = { openai: [{ name: 'o1', contextTokens: 100_000_000 }] }
  const [o1] = discover(claimed).models
  assert.ok((o1?.contextTokens ?? 0) <= 400_000, String(o1?.contextTokens))
})

test('the operator chooses by patterns, changes by an entry, and hides', () => {
  const lists = { openai: ['gpt-5.4', 'gpt-5.4-mini', 'gpt-5.3-codex'] }
  assert.deepEqual(idsOf(discover(lists, { discover: ['gpt-5.4*'] })), ['gpt-5.4', 'gpt-5.4-mini'])
  assert.deepEqual(idsOf(discover(lists, { discover: ['*codex', 'gpt-5.4'] })), [
    'gpt-5.3-codex',
    'gpt-5.4',
  ])
  const models = [
    { id: 'gpt-5.4', markup_multiplier: '1.5' },
    { id: 'gpt-5.4-mini', enabled: false },
  ]
  const changed = discover(lists, { models })
  assert.deepEqual(
    changed.models.map(({ id, markupE4 }) => [id, markupE4]),
    [
      ['gpt-5.4', 15_000n],
      ['gpt-5.3-codex', 12_500n],
    ],
  )
  assert.deepEqual(parseCatalogConfig({ discover: false }).faults, [])
  const options = { mode: 'live', hasUpstream: () => true, at } as const
  const entry = { id: 'gpt-5.4', markup_multiplier: '1.5' }
  assert.equal(
    loadCatalog({ ...options, config: { discover: false, models: [entry] } }).faults.length,
    1,
  )
  const priced = { ...entry, prices: { input: 'x' } } as never
  assert.notEqual(loadCatalog({ ...options, config: { models: [priced] } }).faults.length, 0)
})

test('a discovered model takes the place of one without a route, and answers by its dated names', () => {
  const { models } = loadCatalog({ config: undefined, mode: 'live', hasUpstream: () => false, at })
  const catalog = createCatalog(withPriceIds(models))
  const discovered = withPriceIds(
    discover({ fireworks: ['accounts/fireworks/models/gpt-oss-120b'], openai: ['gpt-5.4'] }).models,
  )
  const changes = { markups: [], prices: [], disabledIds: new Set<string>(), isPaused: false }
  catalog.applyChanges({ ...changes, discovered })
  assert.equal(catalog.findModel('gpt-oss-120b')?.routes[0]?.upstreamId, 'fireworks')
  assert.equal(catalog.listModels().length, models.length + 1)
  assert.equal(catalog.findNamed('gpt-5.4-2026-03-05')?.id, 'gpt-5.4')
  assert.equal(catalog.findNamed('openai/gpt-5.4')?.id, 'gpt-5.4')
  catalog.applyChanges({ ...changes, discovered: [] })
  assert.equal(catalog.findNamed('gpt-5.4'), undefined)
  assert.deepEqual(catalog.findModel('gpt-oss-120b')?.routes, [])
})

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withPriceIds } from '../../../test/harness/with-price-ids.ts'
import { createCatalog } from './catalog.ts'
import { parseCatalogConfig, type CatalogConfig } from './catalog-config-schema.ts'
import { loadCatalog } from './load-catalog.ts'
import { listedEnds } from './upstream-lists.ts'
import { plainRoute } from './sandbox-catalog.ts'
import { microUsd } from './price-from-data.ts'
import type { PriceTerms } from './prices.ts'
import { CONFIG_SCHEMA_FILE, configSchemaText } from './write-config-schema.ts'

const at = new Date('2026-11-21T15:00:00Z')
const load = (
  config?: CatalogConfig,
  mode: 'sandbox' | 'live' = 'live',
  upstreams: readonly string[] = [],
) =>
  createCatalog(
    withPriceIds(
      loadCatalog({ config, mode, hasUpstream: (id) => upstreams.includes(id), at }).models,
    ),
  )

test('the catalog has 27 models or more, of every category, and every one has a price', () => {
  const models = load().listModels()
  assert.ok(models.length >= 27)
  for (const category of ['llm', 'embedding', 'image', 'audio', 'video'] as const) {
    assert.ok(load().listModels(category).length > 0, category)
  }
  for (const model of models) {
    const tier = model.price.tiers[0]
    const units = Object.values(model.price.units ?? {})
    assert.ok((tier && tier.input > 0n) || units.some((price) => price > 0n), model.id)
    if (model.category === 'llm') assert.ok(tier && tier.output > 0n && tier.input > 0n, model.id)
  }
  assert.deepEqual(load().listModels('chat'), load().listModels('llm'))
})

test('a price is read from its decimal digits, not from its double', () => {
  assert.equal(microUsd(0.0375), 37_500n)
  assert.equal(microUsd(1e-7), 1n)
  assert.equal(microUsd(0.1 + 0.2), 300_001n)
  assert.equal(microUsd(75), 75_000_000n)
})

test('a model ends on the day that the operator, a list or the maker says, in this order', () => {
  const config: CatalogConfig = {
    models: [
      { id: 'gpt-4o', ends_on: '2027-03-01' },
      { id: 'gpt-4.1', ends_on: null },
    ],
  }
  const models = loadCatalog({ config, mode: 'live', hasUpstream: () => true, at }).models
  const catalog = createCatalog(withPriceIds(models))
  const endsOf = () =>
    ['gpt-4o', 'gpt-4.1', 'gpt-4o-mini', 'gpt-6-sol'].map((id) => catalog.findModel(id)?.endsOn)
  assert.deepEqual(endsOf(), ['2027-03-01', undefined, '2027-01-14', undefined])
  const changes = { markups: [], prices: [], discovered: [], disabledIds: new Set<string>() }
  const two = plainRoute('other', 'gpt-6-sol', { tiers: [] })
  const known = models.map((each) =>
    each.id === 'gpt-6-sol' ? { ...each, routes: [...each.routes, two] } : each,
  )
  const ends = (listed: Readonly<Record<string, string>>, other?: string) =>
    listedEnds(
      known,
      new Map([
        ['openai', Object.entries(listed).map(([name, endsOn]) => ({ name, endsOn }))],
        ['other', other === undefined ? [] : [{ name: 'gpt-6-sol', endsOn: other }]],
      ]),
    )
  const day = '2027-05-05'
  const all = { 'gpt-4o': day, 'gpt-4.1': day, 'gpt-4o-mini': day, 'gpt-6-sol': day }
  // Another route goes on answering.
  catalog.applyChanges({ ...changes, isPaused: false, ends: ends(all) })
  assert.deepEqual(endsOf(), ['2027-03-01', undefined, day, undefined])
  catalog.applyChanges({ ...changes, isPaused: false, ends: ends(all, '2027-06-06') })
  assert.equal(catalog.findModel('gpt-6-sol')?.endsOn, '2027-06-06')
  const next = catalog.findModel('gpt-4o-mini')
  assert.equal(next && catalog.findReplacement(next)?.id, 'gpt-6-luna')
  const { faults } = loadCatalog({
    config: { models: [{ id: 'gpt-4o', ends_on: '2027-02-30' }] },
    mode: 'live',
    hasUpstream: () => true,
    at,
  })
  assert.deepEqual(faults, ['model "gpt-4o": ends_on: there is no such day'])
})

test('every replacement is in the catalog, and does not end itself', () => {
  for (const { endsOn, replacedBy } of load().listModels()) {
    const other = replacedBy === undefined ? undefined : load().findModel(replacedBy)
    if (replacedBy !== undefined) assert.ok(endsOn && other && !other.endsOn, replacedBy)
  }
})

test('the configuration lies over the built-in models, field by field', () => {
  const config: CatalogConfig = {
    models: [
      {
        id: 'gpt-4o-mini',
        markup_multiplier: '1.5',
        routes: [{ upstream: 'mine', model: 'deployment-7' }],
      },
      { id: 'gpt-4o', enabled: false },
      {
        id: 'own',
        category: 'llm',
        prices: {
          input: '0.25',
          output: 1,
          tiers: [{ above_prompt_tokens: 1000, input: 1, output: 2 }],
        },
        routes: [{ upstream: 'mine', model: 'x' }],
      },
    ],
  }
  const catalog = load(config, 'live', ['mine'])
  assert.equal(catalog.findModel('gpt-4o'), undefined)
  const mini = catalog.findModel('gpt-4o-mini')
  assert.deepEqual(mini?.routes, [plainRoute('mine', 'deployment-7', mini?.price as PriceTerms)])
  assert.equal(catalog.findModel('gpt-4o-mini')?.markupE4, 15_000n)
  assert.equal(catalog.findModel('gpt-4o-mini')?.displayName, 'GPT-4o mini')
  assert.deepEqual(
    catalog
      .findModel('own')
      ?.price.tiers.map((tier) => [tier.abovePromptTokens, tier.input, tier.reasoning]),
    [
      [0, 250_000n, 1_000_000n],
      [1_000, 1_000_000n, 2_000_000n],
    ],
  )
})

test('the sandbox serves models without an upstream in sandbox mode; in live mode they are unavailable', () => {
  const served = load(undefined, 'sandbox', ['sandbox']).findModel('gpt-4o')
  assert.deepEqual(served?.routes, [plainRoute('sandbox', 'gpt-4o', served?.price as PriceTerms)])
  assert.deepEqual(load(undefined, 'live').findModel('gpt-4o')?.routes, [])
  assert.equal(load(undefined, 'live').findModel('sandbox-chat'), undefined)
  assert.deepEqual(
    load(undefined, 'sandbox', ['sandbox', 'openai']).findModel('gpt-4o')?.routes[0]?.upstreamId,
    'openai',
  )
})

test('all faults are reported at once, with the ids of their entries, and sound entries are kept', () => {
  const { config, faults } = parseCatalogConfig({
    upstreams: [{ id: 'a', kind: 'other', base_url: 'ftp://x' }],
    models: [{ id: 'm', colour: 'red' }, { id: 'o3' }],
  })
  assert.deepEqual(config, { upstreams: [], models: [{ id: 'o3' }] })
  for (const path of ['upstream "a": kind', 'upstream "a": base_url', 'model "m": colour']) {
    assert.ok(
      faults.some((fault) => fault.startsWith(path)),
      `${path} in ${faults.join('; ')}`,
    )
  }
  const ofMeaning = loadCatalog({
    config: {
      models: [
        { id: 'new' },
        { id: 'gpt-4o', routes: [{ upstream: 'nobody', model: 'x' }] },
        { id: 'o3', markup_multiplier: '0', prices: { input: 1e-7, output: 1 } },
      ],
    },
    mode: 'live',
    hasUpstream: () => false,
    at,
  }).faults
  assert.equal(ofMeaning.length, 4)
  assert.match(
    ofMeaning.join('\n'),
    /"o3".*1e-7[\s\S]*"o3".*markup[\s\S]*"new".*category, prices, routes[\s\S]*"nobody"/,
  )
})

test('the schema file for editors equals the schema that is checked', () => {
  assert.equal(readFileSync(CONFIG_SCHEMA_FILE, 'utf8'), configSchemaText())
})

test('a reranker, a judge of content and a voice without a price of their own units are faults', () => {
  const faultsOf = (more: object): readonly string[] =>
    loadCatalog({
      config: {
        models: [{ id: 'm', routes: [{ upstream: 'mine', model: 'm' }], ...more }],
      },
      mode: 'live',
      hasUpstream: () => true,
      at,
    }).faults
  const embedding = { category: 'embedding' }
  const audio = { category: 'audio' }
  for (const sound of [
    { ...embedding, rerank: true, prices: { search_unit: '0.002' } },
    { ...embedding, rerank: true, prices: { input: '0.02' } },
    { ...embedding, moderation: true, prices: { input: '0' } },
    { ...audio, speech: true, prices: { characters: '15' } },
    { ...audio, speech: true, prices: { input: '0.6', output_audio: '12' } },
  ])
    assert.deepEqual(faultsOf(sound), [])
  for (const odd of [
    { ...embedding, prices: { search_unit: '0.002' } },
    { ...embedding, moderation: true, prices: {} },
    { ...embedding, moderation: true, prices: { search_unit: '0.002' } },
    { ...embedding, moderation: true, rerank: true, prices: { search_unit: '0.002' } },
    { category: 'llm', moderation: true, prices: { input: 1, output: 1 } },
    { category: 'llm', rerank: true, prices: { input: 1, output: 1 } },
    { ...audio, speech: true, prices: { audio_hour: 1 } },
    { ...audio, prices: { characters: '15' } },
    { category: 'llm', speech: true, prices: { input: 1, output: 1 } },
  ])
    assert.equal(faultsOf(odd).length, 1, JSON.stringify(odd))
})

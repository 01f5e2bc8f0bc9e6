/**
 * `/me/recommendations`: what the same use would cost at other models, computed again in fractions from the
 * prices of the configuration, and which models may stand for which.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { builtInModels } from '../../src/money/catalog/built-in-models.ts'
import type { CatalogConfig } from '../../src/money/catalog/catalog-config-schema.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { exactBilledBrl } from './exact-charge.ts'
import { exactJson } from './exact-json.ts'
import { ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { decimal, firstMidnight, exactTimeOf, halfUp } from '../harness/known-use.ts'

type ModelEntry = NonNullable<CatalogConfig['models']>[number]

/** The sandbox's rate. */
const FX_RATE = '5.2'
const UPSTREAM = 'fornecedor-secreto'

function model(
  id: string,
  [input, output]: [string, string],
  more: Partial<ModelEntry> = {},
): ModelEntry {
  return {
    id,
    display_name: `Modelo ${id}`,
    category: 'llm' as const,
    vendor: 'casa',
    prices: { input, output },
    markup_multiplier: '1.5',
    context_tokens: 100_000,
    max_output_tokens: 4_000,
    image_tokens_max: 100,
    supports_tools: true,
    routes: [{ upstream: UPSTREAM, model: `secreto-${id}` }],
    ...more,
  }
}

/** Far cheaper, and lacking one thing each. */
const CHEAP: [string, string] = ['0.01', '0.01']
const LACKING: Record<string, Partial<ModelEntry>> = {
  'sem-ferramentas': { supports_tools: false },
  'sem-imagens': { image_tokens_max: 0 },
  'contexto-menor': { context_tokens: 99_999 },
  'resposta-menor': { max_output_tokens: 3_999 },
  'de-embeddings': { category: 'embedding' },
}

const MODELS = [
  model('caro', ['10', '40']),
  model('medio', ['5', '20']),
  model('barato', ['1', '4.000001'], { markup_multiplier: '2.0001' }),
  model('sem-imagens-caro', ['10', '40'], { image_tokens_max: 0, context_tokens: 100_001 }),
  model('um-decimo', ['9', '36'], { image_tokens_max: 0, context_tokens: 100_001 }),
  model('menos-de-um-decimo', ['9', '36.000001'], { image_tokens_max: 0, context_tokens: 100_001 }),
  model('duas-rotas', ['0.02', '0.02'], {
    routes: [
      { upstream: UPSTREAM, model: 'secreto-a' },
      { upstream: UPSTREAM, model: 'secreto-b', prices: { input: '4', output: '16' } },
    ],
  }),
  model('por-faixa', ['0.5', '2'], {
    prices: {
      input: '0.5',
      output: '2',
      tiers: [{ above_prompt_tokens: 1_000, input: '100', output: '400' }],
    },
  }),
  model('com-audio', ['10', '40'], { prices: { input: '10', output: '40', input_audio: '7' } }),
  model('outro-com-audio', ['3', '12'], { prices: { input: '3', output: '12', input_audio: '7' } }),
  model('sem-rota', CHEAP, { enabled: false }),
  model('vetor-caro', ['100', '0'], { category: 'embedding' }),
  model('vetor-barato', ['0.01', '0'], { category: 'embedding' }),
  model('imagem-cara', ['5', '0'], {
    category: 'image',
    prices: { input: '5', images: { default: '1' } },
  }),
  model('imagem-barata', ['5', '0'], {
    category: 'image',
    prices: { images: { default: '0.01' } },
  }),
  model('maior-que-o-de-teste', ['0.03', '0.03'], {
    context_tokens: 128_000,
    max_output_tokens: 5_000,
    image_tokens_max: 1_000,
    routes: [{ upstream: UPSTREAM, model: 'x', prices: { input: '6', output: '24' } }],
  }),
  // Would do for the sandbox's own that is next, and for no other here.
  model('maior-sem-ferramentas', CHEAP, {
    supports_tools: false,
    context_tokens: 128_000,
    max_output_tokens: 5_000,
    image_tokens_max: 1_000,
  }),
  {
    id: 'sandbox-slow',
    supports_tools: false,
    prices: { input: '100', output: '400' },
  },
  ...Object.entries(LACKING).map(([id, more]) => model(id, CHEAP, more)),
]

let file: ConfigFile
let gateway: TestGateway

before(async () => {
  file = await writeConfigFile({
    upstreams: [{ id: UPSTREAM, kind: 'openai-compatible', base_url: 'http://127.0.0.1:9/v1' }],
    models: [...builtInModels.map(({ id }) => ({ id, enabled: false })), ...MODELS] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path })
})
after(async () => {
  await gateway.stop()
  await file.remove()
})

interface Mix {
  readonly prompt: number
  readonly completion: number
}

/** Without caches: every prompt token at the full price. */
function costAt(id: string, { prompt, completion }: Mix, prices?: [string, string]): bigint {
  const found = MODELS.find((each) => each.id === id)
  assert.ok(found)
  const { input, output } = prices
    ? { input: prices[0], output: prices[1] }
    : (found.prices as { input: string; output: string })
  const text = exactBilledBrl(
    { input, cached_input: '0', cache_write: '0', output, reasoning: '0' },
    {
      promptTokens: prompt,
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: completion,
      reasoningTokens: 0,
    },
    { fxRate: FX_RATE, markup: String(found.markup_multiplier) },
  )
  const [whole = '', rest = ''] = text.split('.')
  return BigInt(whole + rest.padEnd(9, '0'))
}

function use(modelId: string, { prompt, completion }: Mix, billed: bigint): SeededUse {
  return { at: new Date(), modelId, promptTokens: prompt, completionTokens: completion, billed }
}

async function recommend(events: readonly SeededUse[], query = ''): Promise<any> {
  const { customerId, key, secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '90000',
  })
  await seedUsage(gateway.database.db, { customerId, apiKeyId: key.id, events })
  const answer = await ask(gateway.node.baseUrl, `/me/recommendations${query}`, { secret })
  assert.equal(answer.status, 200, answer.text)
  assert.doesNotMatch(answer.text, /secreto/, 'no upstream shows')
  return exactJson(answer.text)
}

function suggestionOf(id: string, mix: Mix, billed: bigint, projected: bigint): object {
  const saving = billed - projected
  return {
    model_id: id,
    model_name: `Modelo ${id}`,
    projected_cost_brl: decimal(projected, 9),
    brl_per_1k_tokens: decimal(halfUp(projected * 1_000n, BigInt(mix.prompt + mix.completion)), 9),
    saving_brl: decimal(saving, 9),
    saving_percent: decimal(halfUp(saving * 10_000n, billed), 2),
  }
}

const idsOf = ({ suggestions }: any): string[] => suggestions.map((each: any) => each.model_id)
/** 1,000 tokens of prompt exactly: still in the first tier. */
const MIX: Mix = { prompt: 1_000, completion: 333 }
const TIMES = 7
const ALL: Mix = { prompt: 7_000, completion: 2_331 }

test('the three models with the highest savings are suggested, with exact costs for the same tokens', async () => {
  const each = costAt('caro', MIX)
  const billed = each * BigInt(TIMES)
  const answer = await recommend(Array.from({ length: TIMES }, () => use('caro', MIX, each)))
  const perTokens = decimal(halfUp(billed * 1_000n, BigInt(ALL.prompt + ALL.completion)), 9)
  // The sum of rounding differences between calls is no saving.
  const left = billed - [billed, costAt('caro', ALL)].reduce((a, b) => (a < b ? a : b))
  const suggestions = ['por-faixa', 'barato', 'outro-com-audio'].map((id) =>
    suggestionOf(id, ALL, billed, costAt(id, ALL) + left),
  )
  const saving = billed - costAt('por-faixa', ALL) - left
  assert.deepEqual(answer, {
    days: '30',
    brl_per_1k_tokens: perTokens,
    models: [
      {
        model_id: 'caro',
        model_name: 'Modelo caro',
        requests: String(TIMES),
        prompt_tokens: String(ALL.prompt),
        completion_tokens: String(ALL.completion),
        cost_billed_brl: decimal(billed, 9),
        brl_per_1k_tokens: perTokens,
        suggestions,
      },
    ],
    cache_saved_brl: '0',
    routing_saved_brl: '0',
    total_saving_brl: decimal(saving, 9),
  })
})

test('a tier counts if the average prompt is in it, and the most expensive route counts', async () => {
  const mix = { prompt: 1_001, completion: 333 }
  const billed = costAt('caro', mix)
  const { models } = await recommend([use('caro', mix, billed)])
  assert.deepEqual(models[0].suggestions, [
    suggestionOf('barato', mix, billed, costAt('barato', mix)),
    suggestionOf('outro-com-audio', mix, billed, costAt('outro-com-audio', mix)),
    suggestionOf('duas-rotas', mix, billed, costAt('duas-rotas', mix, ['4', '16'])),
  ])
})

test('savings of the cache are not counted again, and costs without tokens stay', async () => {
  const full = costAt('caro', ALL)
  const low = full / 2n
  const [cached] = (await recommend([use('caro', ALL, low)])).models
  assert.deepEqual(cached.suggestions[0], suggestionOf('barato', ALL, low, costAt('barato', ALL)))
  const high = full * 3n
  const [besides] = (await recommend([use('caro', ALL, high)])).models
  assert.deepEqual(
    besides.suggestions[0],
    suggestionOf('barato', ALL, high, high - full + costAt('barato', ALL)),
  )
})

test('a saving below a tenth, or below a cent, is not suggested', async () => {
  // One saves a tenth to the digit, another a hair less.
  const mix = { prompt: 1_000_000, completion: 1_000_000 }
  const { models } = await recommend([
    use('sem-imagens-caro', mix, costAt('sem-imagens-caro', mix)),
  ])
  assert.deepEqual(idsOf(models[0]), ['maior-que-o-de-teste', 'um-decimo'])
  assert.equal(models[0].suggestions[1].saving_percent, '10')

  const savingOf = (prompt: number): bigint => {
    const few = { prompt, completion: 0 }
    return costAt('medio', few) - costAt('duas-rotas', few, ['4', '16'])
  }
  let tokens = 1_001
  while (savingOf(tokens) < 10_000_000n) tokens += 1
  for (const [prompt, isWorthIt] of [
    [tokens, true],
    [tokens - 1, false],
  ] as const) {
    const few = { prompt, completion: 0 }
    const [medium] = (await recommend([use('medio', few, costAt('medio', few))])).models
    assert.equal(idsOf(medium).includes('duas-rotas'), isWorthIt, `${prompt} tokens`)
  }
})

test('a model that lacks a used capability is never suggested', async () => {
  const mix = { prompt: 2_000, completion: 1_000 }
  const used = ['caro', 'medio', 'com-audio', 'sem-imagens-caro']
  const { models } = await recommend(used.map((id) => use(id, mix, costAt(id, mix))))
  assert.equal(models.length, used.length)
  const suggested = models.flatMap(idsOf)
  assert.ok(suggested.length > 0)
  for (const id of [...Object.keys(LACKING), 'sem-rota']) assert.ok(!suggested.includes(id), id)
  const withSound = models.find((each: any) => each.model_id === 'com-audio')
  assert.deepEqual(idsOf(withSound), ['outro-com-audio'])
})

test('embeddings and images are listed and never suggested', async () => {
  const vectors = { prompt: 1_000_000, completion: 0 }
  const picture = { prompt: 500, completion: 0 }
  const chat = { prompt: 1_001, completion: 1 }
  const chatBilled = costAt('duas-rotas', chat)
  const answer = await recommend([
    use('vetor-caro', vectors, 500_000_000n),
    use('imagem-cara', picture, 900_000_000n),
    use('duas-rotas', chat, chatBilled),
  ])
  assert.deepEqual(
    answer.models.map((each: any) => [each.model_id, each.brl_per_1k_tokens, idsOf(each)]),
    [
      ['imagem-cara', null, []],
      ['vetor-caro', '0.0005', []],
      ['duas-rotas', decimal(halfUp(chatBilled * 1_000n, 1_002n), 9), []],
    ],
  )
  const together = halfUp((500_000_000n + chatBilled) * 1_000n, 1_001_002n)
  assert.equal(answer.brl_per_1k_tokens, decimal(together, 9), 'images are not billed by tokens')
  assert.equal(answer.total_saving_brl, '0')
})

test('sandbox models and real models are never suggested for each other', async () => {
  const mix = { prompt: 2_000_000, completion: 2_000_000 }
  const { models } = await recommend([
    use('sandbox-slow', mix, 9_000_000_000_000n),
    use('caro', mix, costAt('caro', mix)),
  ])
  const [sandboxed, real] = models.map(idsOf)
  assert.equal(sandboxed.length, 3)
  assert.equal(real.length, 3)
  for (const id of sandboxed) assert.match(id, /^sandbox-/, id)
  for (const id of real) assert.doesNotMatch(id, /^sandbox-/, id)
})

test('a model that left the catalog is listed without a suggestion, and each best saving is added up', async () => {
  const billed = costAt('caro', ALL)
  const more = { prompt: 20_000, completion: 10 }
  const moreBilled = costAt('medio', more)
  const answer = await recommend([
    use('ja-saiu', ALL, billed + 1n),
    use('caro', ALL, billed),
    use('medio', more, moreBilled),
    { ...use('caro', ALL, 0n), outcome: 'released' },
    { ...use('barato', ALL, 0n), outcome: 'released' },
  ])
  const byId = new Map<string, any>(answer.models.map((each: any) => [each.model_id, each]))
  assert.deepEqual([...byId.keys()].sort(), ['caro', 'ja-saiu', 'medio'])
  assert.equal(byId.get('ja-saiu').model_name, 'ja-saiu')
  assert.deepEqual(byId.get('ja-saiu').suggestions, [])
  const saving = billed - costAt('barato', ALL) + moreBilled - costAt('barato', more)
  assert.equal(answer.total_saving_brl, decimal(saving, 9))
})

test('only usage in the window counts, and without usage there are no suggestions', async () => {
  const start = firstMidnight('America/Sao_Paulo', 7)
  const billed = costAt('caro', ALL)
  const events = [start, start - 1n].map((at) => ({
    ...use('caro', ALL, billed),
    at: exactTimeOf(at),
  }))
  const requestsIn = async (query: string) => (await recommend(events, query)).models[0].requests
  assert.equal(await requestsIn('?days=7'), '1')
  assert.equal(await requestsIn('?days=8'), '2')
  assert.deepEqual(await recommend([]), {
    days: '30',
    brl_per_1k_tokens: null,
    models: [],
    cache_saved_brl: '0',
    routing_saved_brl: '0',
    total_saving_brl: '0',
  })
})

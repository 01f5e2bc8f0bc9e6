/**
 * The current price of each model in reais, computed from the same price, exchange rate and markup that a charge at
 * this moment uses.
 */
import Type from 'typebox'
import type { PlannedChange } from '../../money/catalog/catalog.ts'
import { MODEL_CATEGORIES, type Model } from '../../money/catalog/model.ts'
import type { PriceTier } from '../../money/catalog/prices.ts'
import { SANDBOX_SOURCE } from '../../money/fx/fx-rates.ts'
import {
  chargeFor,
  jsonBrl,
  jsonE4,
  type Conversion,
  type PicoUsd,
} from '../../platform/lib/money.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, count, date, dateTime, nullable } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'catalog' | 'fxRate'>

/** Micro-USD per million tokens is pico-USD per token. */
const TOKENS = 1_000_000n

const tier = answer(
  {
    above_prompt_tokens: count,
    input_brl: brl,
    cached_input_brl: brl,
    cache_write_brl: brl,
    output_brl: brl,
    reasoning_brl: brl,
  },
  {
    description:
      'BRL por milhão de tokens, em chamadas cujo prompt tem mais tokens que above_prompt_tokens.',
  },
)

const units = Type.Record(Type.String(), brl, {
  description:
    'BRL por unidade do que não é token de texto: audio_seconds, characters (que se falam), search_units (pesquisas de até 100 documentos), images, images:<tamanho>, video_seconds, video_seconds:<tamanho>, tokens de som e de imagem, web_searches (pesquisas na web). cache_write_1h_tokens é o acréscimo, por token, de guardar no cache por uma hora.',
})

const modelPrice = answer({
  model_id: Type.String(),
  category: Type.Enum([...MODEL_CATEGORIES]),
  is_available: Type.Boolean({ description: 'false enquanto nenhum caminho leva ao modelo.' }),
  tiers: Type.Array(tier),
  units,
  planned: {
    ...nullable(answer({ starts_at: dateTime, tiers: Type.Array(tier), units })),
    description:
      'A próxima mudança de preço já marcada, com o câmbio de agora; null enquanto não há nenhuma.',
  },
  context_tokens: count,
  output_tokens_max: count,
  supports_tools: Type.Boolean(),
  supports_images: Type.Boolean({ description: 'Se o prompt pode ter imagens.' }),
})

export const modelPriceRoutes = [
  restRoute({
    method: 'GET',
    path: '/model-prices',
    tag: 'Modelos',
    summary: 'Os preços de agora em BRL, com o câmbio e o multiplicador já aplicados',
    access: 'public',
    isTagged: true,
    answer: answer({
      fx_rate: {
        ...nullable(
          answer({
            rate: Type.Number({ description: 'BRL por USD, quatro decimais' }),
            rate_date: date,
            source: Type.String(),
            is_sandbox: Type.Boolean(),
          }),
        ),
        description: 'A taxa em vigor; null, e nenhum preço, enquanto não há nenhuma.',
      },
      prices: Type.Array(modelPrice),
    }),
    handle(_call, deps: Deps) {
      const fxRate = deps.fxRate.current()
      if (!fxRate) return { fx_rate: null, prices: [] }
      const { rateE4, rateDate, source } = fxRate
      return {
        fx_rate: {
          rate: jsonE4(rateE4),
          rate_date: rateDate,
          source,
          is_sandbox: source === SANDBOX_SOURCE,
        },
        prices: deps.catalog
          .listModels()
          .map((model) => priceBody(model, deps.catalog.findPlanned(model.id), rateE4)),
      }
    },
  }),
]

/** Uses the model's own price; a route with a different price charges by that one. */
function priceBody(
  model: Model,
  planned: PlannedChange | undefined,
  fxRateE4: bigint,
): AnswerOf<typeof modelPrice> {
  return {
    model_id: model.id,
    category: model.category,
    is_available: model.routes.length > 0,
    ...amountsOf(model, fxRateE4),
    planned: planned
      ? { starts_at: planned.startsAt.toISOString(), ...amountsOf(planned.model, fxRateE4) }
      : null,
    context_tokens: model.contextTokens,
    output_tokens_max: model.outputTokensMax,
    supports_tools: model.supportsTools,
    supports_images: model.imageTokensMax > 0,
  }
}

function amountsOf({ price, markupE4 }: Model, fxRateE4: bigint) {
  const conversion = { fxRateE4, markupE4 }
  const { tiers, units = {} } = price
  return {
    tiers: tiers.map((tier) => tierBody(tier, conversion)),
    units: Object.fromEntries(
      Object.entries(units).map(([unit, each]) => [unit, charged(each, conversion)]),
    ),
  }
}

function tierBody(priced: PriceTier, conversion: Conversion): AnswerOf<typeof tier> {
  const million = (each: bigint) => charged(each * TOKENS, conversion)
  return {
    above_prompt_tokens: priced.abovePromptTokens,
    input_brl: million(priced.input),
    cached_input_brl: million(priced.cachedInput),
    cache_write_brl: million(priced.cacheWrite),
    output_brl: million(priced.output),
    reasoning_brl: million(priced.reasoning),
  }
}

/** The charge for this cost. */
function charged(cost: PicoUsd, conversion: Conversion) {
  return jsonBrl(chargeFor(cost, conversion))
}

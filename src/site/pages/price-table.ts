import type { Model } from '../../money/catalog/model.ts'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { t } from '../../platform/lib/language.ts'
import { html, type Html } from '../../platform/lib/html.ts'
import {
  brlPerMillion,
  rateText,
  roundedBrl,
  shortCount,
  multiplierText,
  usdPerMillion,
} from './amounts.ts'
import { formatDay } from '../../deliveries/email/formats.ts'
import { isPaidByTokens, makerOf, modelPath, unitPriceTexts } from './model-words.ts'
import type { MarkupChange } from '../../money/catalog/markup-changes.ts'
import type { PriceTier } from '../../money/catalog/prices.ts'
import { scheduleOf, type PriceChange } from '../../money/catalog/with-price-changes.ts'

/** Returns the prices in reais of these models. */
export function priceTable(models: readonly Model[], fxRate: FxRate, caption: string): Html {
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
    <table>
      <caption class="only-read">
        ${caption}
      </caption>
      <thead>
        <tr>
          <th scope="col">Modelo</th>
          <th scope="col" class="wide">Fabricante</th>
          <th scope="col" class="num wide">Contexto</th>
          <th scope="col" class="num">Entrada</th>
          <th scope="col" class="num">Saída</th>
        </tr>
      </thead>
      <tbody>
        ${models.map((model) => priceRow(model, fxRate))}
      </tbody>
    </table>
  </div>`
}

function priceRow(model: Model, fxRate: FxRate): Html {
  return html`<tr>
    <th scope="row">
      <a href="${modelPath(model)}">${model.displayName}</a
      ><code>${model.id}</code
      >${model.routes.length === 0 && html`<span class="tag warn">indisponível</span>`}
    </th>
    <td class="wide">${makerOf(model)}</td>
    <td class="num wide">${model.category === 'llm' ? shortCount(model.contextTokens) : '–'}</td>
    ${priceCells(model, fxRate)}
  </tr> `
}

function priceCells(model: Model, fxRate: FxRate): Html {
  const [tier] = model.price.tiers
  const units = unitPriceTexts(model, fxRate)
  if (!tier || !isPaidByTokens(model)) return html`<td colspan="2">${units.join('; ')}</td>`
  const write = (each: bigint) => roundedBrl(brlPerMillion(each, model, fxRate))
  return html`<td class="num">${write(tier.input)}</td>
    <td class="num">${tier.output === 0n ? '–' : write(tier.output)}</td>`
}

/** Where the prices come from: the rate, its day and its source. */
export function rateSentence({ rateE4, rateDate, source }: FxRate): string {
  const day = formatDay(rateDate) ?? rateDate
  const name = source.startsWith('bcb_')
    ? t('PTAX de venda do Banco Central')
    : source === 'manual'
      ? t('taxa registrada pelo operador')
      : t('taxa fictícia do modo de teste')
  return t`US$ 1 = ${rateText(rateE4)}, ${name} de ${day}`
}

/** A change of a model's price, in words. */
export interface PriceEvent {
  readonly at: Date
  readonly text: string
}

/**
 * Returns the operators' changes of one model, the newest first; those that are planned have a time that has not come
 * yet.
 */
export function priceHistory(
  model: Model,
  markups: readonly MarkupChange[],
  prices: readonly PriceChange[],
): PriceEvent[] {
  const events: PriceEvent[] = markups
    .filter(({ modelId }) => modelId === model.id)
    .map(({ startsAt, markupBeforeE4, markupE4 }) => ({
      at: startsAt,
      text: t`Multiplicador de ${multiplierText(markupBeforeE4)} para ${multiplierText(markupE4)}`,
    }))
  let [before] = scheduleOf(model)[0].price.tiers
  for (const { startsAt, schedule } of prices.filter(({ modelId }) => modelId === model.id)) {
    const [after] = schedule[0].price.tiers
    if (before && after) events.push({ at: startsAt, text: describeChange(before, after) })
    before = after
  }
  return events.toSorted((one, other) => other.at.getTime() - one.at.getTime())
}

function describeChange(before: PriceTier, after: PriceTier): string {
  const changed = (
    [
      [t('entrada'), 'input'],
      [t('entrada do cache'), 'cachedInput'],
      [t('saída'), 'output'],
    ] as const
  )
    .filter(([, kind]) => before[kind] !== after[kind])
    .map(
      ([word, kind]) =>
        t`${word} de ${usdPerMillion(before[kind])} para ${usdPerMillion(after[kind])}`,
    )
  return t`Preço do fabricante: ${changed.join(', ') || t('outras unidades ou faixas')}`
}

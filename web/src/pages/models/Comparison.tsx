import type { ReactNode } from 'react'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { wholeNumber } from '../../format/number.ts'
import type { CatalogModel, Price } from './catalog-query.ts'
import { CATEGORY_WORDS, exactBrl, isPaidByTokens, unitPrices } from './price-words.ts'

export function Comparison({ models }: { readonly models: readonly CatalogModel[] }) {
  return (
    <div
      role="region"
      aria-label="Comparação"
      // Focusable, so that three columns wider than the screen scroll by keyboard.
      tabIndex={0}
      className="relative overflow-x-auto"
    >
      <table className="w-full min-w-[34rem] text-sm">
        <caption className="sr-only">Os modelos escolhidos, lado a lado</caption>
        <thead>
          <tr className="border-b border-line align-top">
            <th scope="col" className="pr-3 text-left font-medium text-muted">
              Modelo
            </th>
            {models.map((model) => (
              <th key={model.id} scope="col" className="px-3 pb-3 text-left font-semibold">
                {model.display_name}
                <span className="flex items-center gap-1 font-normal">
                  <code className="text-xs break-all text-muted">{model.id}</code>
                  <CopyIcon text={model.id} label={`Copiar ${model.id}`} />
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ROWS.map(([name, cell]) => (
            <tr key={name} className="border-b border-line align-top last:border-b-0">
              <th scope="row" className="py-3 pr-3 text-left font-medium text-muted">
                {name}
              </th>
              {models.map((model) => (
                <td key={model.id} className="px-3 py-3 tabular-nums">
                  {cell(model)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type Tier = Price['tiers'][number]

const ROWS: readonly (readonly [string, (model: CatalogModel) => ReactNode])[] = [
  ['Fabricante', ({ upstream }) => upstream],
  ['Tipo', ({ category }) => CATEGORY_WORDS[category]],
  ['Entrada, 1 milhão', byTier(({ input_brl }) => input_brl)],
  ['Entrada do cache, 1 milhão', byTier(({ cached_input_brl }) => cached_input_brl)],
  ['Saída, 1 milhão', byTier(({ output_brl }) => output_brl)],
  ['Por unidade', ({ price }) => (price && unitPrices(price, exactBrl).join('; ')) || '–'],
  ['Multiplicador', ({ markup_multiplier }) => String(markup_multiplier).replace('.', ',')],
  ['Contexto', ofChat(({ context_tokens }) => `${wholeNumber(context_tokens)} tokens`)],
  ['Maior saída', ofChat(({ output_tokens_max }) => `${wholeNumber(output_tokens_max)} tokens`)],
  ['Usa ferramentas', ofChat(({ supports_tools }) => (supports_tools ? 'sim' : 'não'))],
  ['Lê imagens', ofChat(({ supports_images }) => (supports_images ? 'sim' : 'não'))],
  ['Descrição', ({ description }) => description ?? '–'],
]

function byTier(amountOf: (tier: Tier) => number): (model: CatalogModel) => ReactNode {
  return (model) => {
    if (!model.price || !isPaidByTokens(model)) return '–'
    return model.price.tiers.map((tier) => (
      <span key={tier.above_prompt_tokens} className="block">
        {amountOf(tier) === 0 ? '–' : exactBrl(amountOf(tier))}
        {tier.above_prompt_tokens > 0 && (
          <span className="block text-xs text-muted">
            com mais de {wholeNumber(tier.above_prompt_tokens)} tokens de entrada
          </span>
        )}
      </span>
    ))
  }
}

function ofChat(text: (price: Price) => string): (model: CatalogModel) => ReactNode {
  return ({ category, price }) => (category === 'llm' && price ? text(price) : '–')
}

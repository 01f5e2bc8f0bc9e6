import type { ReactNode } from 'react'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { wholeNumber } from '../../format/number.ts'
import { typedAmount } from '../../format/typed-amount.ts'
import type { CatalogModel, Price } from './catalog-query.ts'
import { makerWords } from './MakerMark.tsx'
import { CATEGORY_WORDS, exactBrl, isPaidByTokens, unitPrices } from './price-words.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function Comparison({ models }: { readonly models: readonly CatalogModel[] }) {
  return (
    <div
      role="region"
      aria-label={t('Comparação')}
      // Focusable, so that three columns wider than the screen scroll by keyboard.
      tabIndex={0}
      className="relative overflow-x-auto"
    >
      <table className="w-full min-w-[34rem] text-sm">
        <caption className="sr-only">{t('Os modelos escolhidos, lado a lado')}</caption>
        <thead>
          <tr className="border-b border-line align-top">
            <th scope="col" className="pr-3 text-left font-medium text-muted">
              {t('Modelo')}
            </th>
            {models.map((model) => (
              <th key={model.id} scope="col" className="px-3 pb-3 text-left font-semibold">
                {model.display_name}
                <span className="flex items-center gap-1 font-normal">
                  <code className="text-xs break-all text-muted">{model.id}</code>
                  <CopyIcon text={model.id} label={t('Copiar {id}', { id: model.id })} />
                </span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ROWS().map(([name, cell]) => (
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

const ROWS = perLanguage((): readonly (readonly [string, (model: CatalogModel) => ReactNode])[] => [
  [t('Fabricante'), ({ upstream }) => makerWords(upstream)],
  [t('Tipo'), ({ category }) => CATEGORY_WORDS()[category]],
  [t('Entrada, 1 milhão'), byTier(({ input_brl }) => input_brl)],
  [t('Entrada do cache, 1 milhão'), byTier(({ cached_input_brl }) => cached_input_brl)],
  [t('Saída, 1 milhão'), byTier(({ output_brl }) => output_brl)],
  [t('Por unidade'), ({ price }) => (price && unitPrices(price, exactBrl).join('; ')) || '–'],
  [t('Multiplicador'), ({ markup_multiplier }) => typedAmount(markup_multiplier)],
  [
    t('Contexto'),
    ofChat(({ context_tokens }) =>
      t('{contextTokens} tokens', { contextTokens: wholeNumber(context_tokens) }),
    ),
  ],
  [
    t('Maior saída'),
    ofChat(({ output_tokens_max }) =>
      t('{outputTokensMax} tokens', { outputTokensMax: wholeNumber(output_tokens_max) }),
    ),
  ],
  [t('Usa ferramentas'), ofChat(({ supports_tools }) => (supports_tools ? t('sim') : t('não')))],
  [t('Lê imagens'), ofChat(({ supports_images }) => (supports_images ? t('sim') : t('não')))],
  [t('Descrição'), ({ description }) => description ?? '–'],
])

function byTier(amountOf: (tier: Tier) => number): (model: CatalogModel) => ReactNode {
  return (model) => {
    if (!model.price || !isPaidByTokens(model)) return '–'
    return model.price.tiers.map((tier) => (
      <span key={tier.above_prompt_tokens} className="block">
        {amountOf(tier) === 0 ? '–' : exactBrl(amountOf(tier))}
        {tier.above_prompt_tokens > 0 && (
          <span className="block text-xs text-muted">
            <Trans
              id="com mais de {abovePromptTokens} tokens de entrada"
              values={{ abovePromptTokens: wholeNumber(tier.above_prompt_tokens) }}
            />
          </span>
        )}
      </span>
    ))
  }
}

function ofChat(text: (price: Price) => string): (model: CatalogModel) => ReactNode {
  return ({ category, price }) => (category === 'llm' && price ? text(price) : '–')
}

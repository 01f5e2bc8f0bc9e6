import { Badge } from '../../components/Badge.tsx'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { shortNumber } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import type { CatalogModel } from './catalog-query.ts'
import { UseInAgents } from './UseInAgents.tsx'
import {
  CATEGORY_WORDS,
  isPaidByTokens,
  outputPrice,
  plannedText,
  pricesText,
  unitPrices,
} from './price-words.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly models: readonly CatalogModel[]
  readonly comparedIds: readonly string[]
  /** No further model can be selected. */
  readonly isFull: boolean
  readonly onToggle: (id: string) => void
}

const HEADER = 'px-3 py-3 font-medium'

export function ModelTable({ models, comparedIds, isFull, onToggle }: Props) {
  return (
    <div className="overflow-hidden rounded-card border border-line bg-surface shadow-card">
      <table className="w-full text-sm">
        <caption className="sr-only">{t('Modelos e preços em reais por milhão de tokens')}</caption>
        <thead className="border-b border-line text-left text-xs text-muted">
          <tr>
            <th scope="col" className="w-12 py-3 pl-3 font-medium">
              <span className="sr-only">{t('Comparar')}</span>
            </th>
            <th scope="col" className={HEADER}>
              {t('Modelo')}
            </th>
            <th scope="col" className={`${HEADER} max-lg:hidden`}>
              {t('Tipo')}
            </th>
            <th scope="col" className={`${HEADER} text-right max-lg:hidden`}>
              {t('Contexto')}
            </th>
            <th scope="col" className={`${HEADER} text-right max-sm:hidden`}>
              {t('Entrada')}
            </th>
            <th scope="col" className={`${HEADER} pr-5 text-right max-sm:hidden`}>
              {t('Saída')}
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <ModelRow
              key={model.id}
              model={model}
              isCompared={comparedIds.includes(model.id)}
              isFull={isFull}
              onToggle={() => onToggle(model.id)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly model: CatalogModel
  readonly isCompared: boolean
  readonly isFull: boolean
  readonly onToggle: () => void
}

function ModelRow({ model, isCompared, isFull, onToggle }: RowProps) {
  const { price } = model
  const planned = plannedText(model)
  return (
    <tr className="border-b border-line align-top last:border-b-0">
      <td className="pl-1">
        <label className="grid size-11 place-items-center">
          <input
            type="checkbox"
            aria-label={t('Comparar {displayName}', { displayName: model.display_name })}
            checked={isCompared}
            disabled={isFull && !isCompared}
            onChange={onToggle}
            className="size-4.5 accent-accent"
          />
        </label>
      </td>
      <th scope="row" className="px-3 py-3 text-left font-normal">
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="font-semibold">{model.display_name}</span>
          <span className="text-xs text-muted">{model.upstream}</span>
          {price?.is_available === false && <Badge tone="warning">{t('indisponível')}</Badge>}
        </span>
        <span className="flex items-center gap-1">
          <code className="text-xs break-all text-muted">{model.id}</code>
          <CopyIcon text={model.id} label={t('Copiar {id}', { id: model.id })} />
        </span>
        {model.category === 'llm' && model.available && <UseInAgents model={model} />}
        {planned !== undefined && (
          <span className="mt-1 block text-xs text-warning tabular-nums">{planned}</span>
        )}
        <span className="mt-1 block text-xs tabular-nums sm:hidden">{pricesText(model)}</span>
      </th>
      <td className="px-3 py-3 text-muted max-lg:hidden">{CATEGORY_WORDS()[model.category]}</td>
      <td className="px-3 py-3 text-right text-muted tabular-nums max-lg:hidden">
        {price && model.category === 'llm' ? shortNumber(price.context_tokens) : '–'}
      </td>
      <PriceCells model={model} />
    </tr>
  )
}

function PriceCells({ model }: { readonly model: CatalogModel }) {
  const [tier] = model.price?.tiers ?? []
  const cell = 'px-3 py-3 text-right tabular-nums max-sm:hidden'
  if (!model.price || !tier)
    return (
      <td colSpan={2} className={`${cell} pr-5`}>
        –
      </td>
    )
  const output = outputPrice(model)
  const units = unitPrices(model.price)
  if (!isPaidByTokens(model))
    return (
      <td colSpan={2} className={`${cell} pr-5`}>
        {units.join('; ')}
      </td>
    )
  return (
    <>
      <td className={cell}>
        <span className="whitespace-nowrap">{amount(tier.input_brl)}</span>
        {units.map((text) => (
          <span key={text} className="ml-auto block max-w-40 text-xs text-muted">
            {text}
          </span>
        ))}
      </td>
      <td className={`${cell} pr-5 whitespace-nowrap`}>
        {output === undefined ? '–' : amount(output)}
      </td>
    </>
  )
}

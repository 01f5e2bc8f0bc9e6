import { isPast } from '../../../../src/platform/lib/days.ts'
import { Link } from '@tanstack/react-router'
import { Badge } from '../../components/Badge.tsx'
import { CopyIcon } from '../../components/CopyIcon.tsx'
import { duration } from '../../format/duration.ts'
import { percent, shortNumber } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import type { CatalogModel } from './catalog-query.ts'
import type { Measured, Measures } from './choose-models.ts'
import { MakerMark, makerWords } from './MakerMark.tsx'
import {
  CATEGORY_WORDS,
  endText,
  isPaidByTokens,
  outputPrice,
  plannedText,
  pricesText,
  unitPrices,
} from './price-words.ts'
import { paceWords } from './SpeedMeasures.tsx'
import { t } from '../../language/t.ts'

interface Props {
  readonly models: readonly CatalogModel[]
  readonly measured: Measured
  readonly comparedIds: readonly string[]
  /** No further model can be selected. */
  readonly isFull: boolean
  readonly onToggle: (id: string) => void
}

const HEADER = 'px-3 py-3 font-medium whitespace-nowrap'

export function ModelTable({ models, measured, comparedIds, isFull, onToggle }: Props) {
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
            <th scope="col" className={`${HEADER} max-xl:hidden`}>
              {t('Tipo')}
            </th>
            <th scope="col" className={`${HEADER} text-right max-lg:hidden`}>
              {t('Contexto')}
            </th>
            <th scope="col" className={`${HEADER} text-right max-sm:hidden`}>
              {t('Entrada')}
            </th>
            <th scope="col" className={`${HEADER} text-right max-sm:hidden`}>
              {t('Saída')}
            </th>
            <th scope="col" className={`${HEADER} text-right max-lg:hidden`}>
              {t('1º byte')}
            </th>
            <th scope="col" className={`${HEADER} text-right max-xl:hidden`}>
              {t('Tokens/s')}
            </th>
            <th scope="col" className={`${HEADER} pr-5 text-right max-lg:hidden`}>
              {t('Disponível')}
            </th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <ModelRow
              key={model.id}
              model={model}
              end={endText(model, models)}
              measures={measured.get(model.id)}
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
  readonly end: string | undefined
  readonly measures: Measures | undefined
  readonly isCompared: boolean
  readonly isFull: boolean
  readonly onToggle: () => void
}

/** One line, but on a phone, where the price stands below the name. */
function ModelRow({ model, end, measures, isCompared, isFull, onToggle }: RowProps) {
  const { price } = model
  const planned = plannedText(model)
  const figure = 'px-3 text-right whitespace-nowrap tabular-nums'
  return (
    <tr className="border-b border-line last:border-b-0 hover:bg-sunken/60">
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
      {/* It takes the room that the figures leave, and cuts the id there. */}
      <th scope="row" className="w-full max-w-0 px-3 py-1.5 text-left font-normal max-sm:py-3">
        <span className="flex items-center gap-2">
          <MakerMark vendor={model.upstream} />
          <span className="sr-only">{makerWords(model.upstream)}</span>
          <Link
            to="/modelos/$"
            params={{ _splat: model.id }}
            className="min-w-0 font-semibold wrap-anywhere hover:underline sm:shrink-0"
          >
            {model.display_name}
          </Link>
          {price?.is_available === false && <Badge tone="warning">{t('indisponível')}</Badge>}
          {end !== undefined && (
            <span title={end} className="max-sm:hidden">
              <Badge tone="warning">
                {isPast(model.ends_on ?? '') ? t('encerrado') : t('vai sair do ar')}
              </Badge>
            </span>
          )}
          {planned !== undefined && (
            <span title={planned} className="max-sm:hidden">
              <Badge>{t('preço vai mudar')}</Badge>
            </span>
          )}
          <code className="min-w-0 truncate text-xs text-muted max-xl:hidden">{model.id}</code>
          <CopyIcon text={model.id} label={t('Copiar {id}', { id: model.id })} />
        </span>
        <span className="mt-1 block text-xs tabular-nums sm:hidden">
          {pricesText(model)}
          {planned !== undefined && <span className="block text-warning">{planned}</span>}
          {end !== undefined && <span className="block text-warning">{end}</span>}
        </span>
      </th>
      <td className="px-3 whitespace-nowrap text-muted max-xl:hidden">
        {CATEGORY_WORDS()[model.category]}
      </td>
      <td className={`${figure} text-muted max-lg:hidden`}>
        {price && model.category === 'llm' ? shortNumber(price.context_tokens) : '–'}
      </td>
      <PriceCells model={model} />
      <td className={`${figure} text-muted max-lg:hidden`}>
        {written(measures?.firstByteMs, duration)}
      </td>
      <td className={`${figure} text-muted max-xl:hidden`}>
        {written(measures?.tokensPerSecond, paceWords)}
      </td>
      <td className={`${figure} pr-5 text-muted max-lg:hidden`}>
        {written(measures?.uptimePercent, percent)}
      </td>
    </tr>
  )
}

function written(value: number | null | undefined, write: (value: number) => string): string {
  return typeof value === 'number' ? write(value) : '–'
}

function PriceCells({ model }: { readonly model: CatalogModel }) {
  const [tier] = model.price?.tiers ?? []
  const cell = 'px-3 text-right whitespace-nowrap tabular-nums max-sm:hidden'
  if (!model.price || !tier)
    return (
      <td colSpan={2} className={cell}>
        –
      </td>
    )
  const units = unitPrices(model.price)
  if (!isPaidByTokens(model)) {
    const [first = '–', ...others] = units
    return (
      <td colSpan={2} className={cell}>
        <span className="ml-auto block max-w-60 truncate" title={units.join('; ')}>
          {first}
          {others.length > 0 && t(' e mais {count}', { count: others.length })}
        </span>
      </td>
    )
  }
  const output = outputPrice(model)
  return (
    <>
      <td className={cell}>{amount(tier.input_brl)}</td>
      <td className={cell}>
        {output === undefined ? '–' : amount(output)}
        {/* Pictures and sounds have prices of their own, which are most of what they cost. */}
        {model.category !== 'llm' && units.length > 0 && (
          <span className="text-xs text-muted" title={units.join('; ')}>
            {t(' e mais {count}', { count: units.length })}
          </span>
        )}
      </td>
    </>
  )
}

import { useState } from 'react'
import { ArrowDown, ChartColumn } from 'lucide-react'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { percent, wholeNumber } from '../../format/number.ts'
import { classNames } from '../../lib/class-names.ts'
import { changeText } from './change-text.ts'
import { amount } from './charge-words.ts'
import { colourOf, GROUPINGS, groupName } from './spend-words.ts'
import type { Grouping, Spend } from './usage-queries.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly spend: Spend
  readonly by: Grouping
  readonly earlier: Spend | undefined
  readonly onChoose: (id: string) => void
}

type Order = 'cost_billed_brl' | 'requests' | 'failed_requests'

/** The legend of the chart and its figures. */
export function SpendTable({ spend, by, earlier, onChoose }: Props) {
  const [order, setOrder] = useState<Order>('cost_billed_brl')
  const before = new Map(earlier?.groups.map((group) => [group.id, group.cost_billed_brl]))
  if (spend.groups.length === 0)
    return (
      <Card>
        <EmptyState icon={<ChartColumn className="size-6" />} title={t('Nada gasto neste período')}>
          {t('Escolha outro período ou faça uma chamada.')}
        </EmptyState>
      </Card>
    )
  const rows = spend.groups
    .map((group, place) => ({ group, place }))
    .toSorted((left, right) => right.group[order] - left.group[order])
  const head = (name: Order, text: string, className = ''): React.ReactNode => (
    <th
      scope="col"
      aria-sort={order === name ? 'descending' : 'none'}
      className={classNames('px-4 text-right font-medium', className)}
    >
      <button
        type="button"
        className="inline-flex min-h-11 items-center gap-1 hover:text-ink"
        onClick={() => setOrder(name)}
      >
        {text}
        <ArrowDown
          aria-hidden="true"
          className={classNames('size-3', order !== name && 'invisible')}
        />
      </button>
    </th>
  )
  return (
    <div className="overflow-clip rounded-card border border-line bg-surface shadow-card">
      <table className="w-full text-sm">
        <caption className="sr-only">{t('O gasto de cada grupo')}</caption>
        <thead className="sticky top-0 z-10 bg-surface text-left text-xs text-muted shadow-[inset_0_-1px_0_var(--line)]">
          <tr>
            <th scope="col" className="px-4 font-medium">
              {GROUPINGS().find(([, grouping]) => grouping === by)?.[2]}
            </th>
            {head('requests', t('Chamadas'), 'max-sm:hidden')}
            {head('failed_requests', t('Com falha'), 'max-md:hidden')}
            {earlier && (
              <th scope="col" className="px-4 text-right font-medium max-sm:hidden">
                {t('Antes')}
              </th>
            )}
            {head('cost_billed_brl', t('Gasto'))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ group, place }) => (
            <tr key={group.id ?? ''} className="border-b border-line last:border-b-0">
              <th scope="row" className="px-4 py-3 text-left font-medium">
                <span className="flex items-center gap-2">
                  <span
                    aria-hidden="true"
                    className={`size-3 shrink-0 rounded-sm ${colourOf(group, place)}`}
                  />
                  {group.id === null || by === 'team' ? (
                    <span className="wrap-anywhere">{groupName(group, by)}</span>
                  ) : (
                    <button
                      type="button"
                      className="min-h-6 text-left text-accent wrap-anywhere underline-offset-4 hover:underline"
                      onClick={() => onChoose(group.id ?? '')}
                    >
                      {groupName(group, by)}
                    </button>
                  )}
                </span>
              </th>
              <td className="px-4 py-3 text-right tabular-nums max-sm:hidden">
                {wholeNumber(group.requests)}
              </td>
              <td className="px-4 py-3 text-right text-muted tabular-nums max-md:hidden">
                {wholeNumber(group.failed_requests)}
              </td>
              {earlier && (
                <td className="px-4 py-3 text-right text-muted tabular-nums max-sm:hidden">
                  {amount(before.get(group.id) ?? 0)}
                  <span className="block text-xs">
                    {changeText(group.cost_billed_brl, before.get(group.id) ?? 0)}
                  </span>
                </td>
              )}
              <td className="px-4 py-3 text-right tabular-nums">
                <span className="font-medium">{amount(group.cost_billed_brl)}</span>
                <span className="block text-xs text-muted">
                  {spend.cost_billed_brl > 0 &&
                    percent((group.cost_billed_brl / spend.cost_billed_brl) * 100)}
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

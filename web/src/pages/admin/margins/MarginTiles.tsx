import type { ReactNode } from 'react'
import { Money } from '../../../components/Money.tsx'
import { percent, wholeNumber } from '../../../format/number.ts'
import { usd } from '../../../format/usd.ts'
import type { MarginSums } from './margin-queries.ts'
import { t } from '../../../language/t.ts'

export function MarginTiles({ totals }: { readonly totals: MarginSums }) {
  return (
    <dl className="grid gap-px overflow-hidden rounded-card border border-line bg-line shadow-card grid-cols-2 lg:grid-cols-4">
      <Tile name={t('Margem')} note={marginPercent(totals)}>
        <Money amount={totals.margin_brl} />
      </Tile>
      <Tile name={t('Cobrado')} note={t('dos clientes')}>
        <Money amount={totals.billed_brl} />
      </Tile>
      <Tile
        name={t('Custo')}
        note={t('{costUpstreamUsd} nos provedores', {
          costUpstreamUsd: usd(totals.cost_upstream_usd),
        })}
      >
        <Money amount={totals.cost_upstream_brl} />
      </Tile>
      <Tile name={t('Chamadas')} note={t('cobradas')}>
        {wholeNumber(totals.requests)}
      </Tile>
    </dl>
  )
}

function marginPercent({ margin_percent: value }: MarginSums): string {
  return value === null ? t('nada cobrado') : t('{value} do cobrado', { value: percent(value) })
}

function Tile(props: {
  readonly name: string
  readonly note: string
  readonly children: ReactNode
}) {
  return (
    <div className="bg-surface p-4 sm:p-5">
      <dt className="text-sm text-muted">{props.name}</dt>
      <dd className="mt-1 text-xl font-semibold sm:text-2xl tracking-tight tabular-nums">
        {props.children}
      </dd>
      <dd className="mt-1 text-sm text-muted">{props.note}</dd>
    </div>
  )
}

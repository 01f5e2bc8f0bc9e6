import { Disclosure } from '../../../components/Disclosure.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { readableBrl } from '../../../format/brl.ts'
import { shortDay } from '../../../format/date.ts'
import { percent, wholeNumber } from '../../../format/number.ts'
import { usd } from '../../../format/usd.ts'
import type { DayMargin, MarginSums } from './margin-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

interface NamedSums extends MarginSums {
  readonly name: string
}

const COLUMNS = perLanguage((): readonly Column<NamedSums>[] => [
  {
    key: 'billed',
    header: t('Cobrado'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ billed_brl }) => readableBrl(billed_brl),
  },
  {
    key: 'cost',
    header: t('Custo'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ cost_upstream_brl }) => readableBrl(cost_upstream_brl),
  },
  {
    key: 'usd',
    header: t('Custo em US$'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ cost_upstream_usd }) => usd(cost_upstream_usd),
  },
  {
    key: 'requests',
    header: t('Chamadas'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ requests }) => wholeNumber(requests),
  },
  {
    key: 'margin',
    header: t('Margem'),
    isNumeric: true,
    cell: ({ margin_brl }) => (
      <span className="font-medium whitespace-nowrap">{readableBrl(margin_brl)}</span>
    ),
  },
  {
    key: 'percent',
    header: '%',
    isNumeric: true,
    cell: ({ margin_percent }) => (margin_percent === null ? '–' : percent(margin_percent)),
  },
])

function nameOf({ name }: NamedSums) {
  return <span className="font-medium break-words">{name}</span>
}

interface MarginTableProps {
  readonly caption: string
  readonly nameHeader: string
  readonly rows: readonly NamedSums[]
}

export function MarginTable({ caption, nameHeader, rows }: MarginTableProps) {
  return (
    <Table
      caption={caption}
      rows={rows}
      rowKey={({ name }) => name}
      columns={[{ key: 'name', header: nameHeader, cell: nameOf }, ...COLUMNS()]}
    />
  )
}

export function MarginTableOfDays({ days }: { readonly days: readonly DayMargin[] }) {
  return (
    <div className="mt-4">
      <Disclosure summary={t('Ver os números')}>
        <MarginTable
          caption={t('Margem de cada dia')}
          nameHeader={t('Dia')}
          rows={days.toReversed().map(({ day, ...sums }) => ({ name: shortDay(day), ...sums }))}
        />
      </Disclosure>
    </div>
  )
}

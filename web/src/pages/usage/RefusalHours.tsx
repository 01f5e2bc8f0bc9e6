import { useInfiniteQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { dateTime, time } from '../../format/date.ts'
import { wholeNumber } from '../../format/number.ts'
import { refusalWords } from './refusal-words.ts'
import { refusalsByHourQuery, type RefusalFilters, type RefusalsOfHour } from './usage-queries.ts'
import { t } from '../../language/t.ts'

/** When, by which key and with which model. */
export function RefusalHours({ filters }: { readonly filters: RefusalFilters }) {
  const found = useInfiniteQuery(refusalsByHourQuery(filters))
  const rows = found.data?.pages.flatMap((page) => page.refusals) ?? []
  return (
    <section aria-labelledby="refusal-hours" className="grid gap-4">
      <h2 id="refusal-hours" className="font-semibold">
        {t('Hora a hora')}
      </h2>
      {found.isPending && (
        <Card>
          <SkeletonRows rows={6} label={t('Carregando as horas')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && <HourTable rows={rows} />}
      <LoadMore query={found} />
    </section>
  )
}

function HourTable({ rows }: { readonly rows: readonly RefusalsOfHour[] }) {
  return (
    <div className="overflow-clip rounded-card border border-line bg-surface shadow-card">
      <table className="w-full text-sm">
        <caption className="sr-only">
          {t('Chamadas com erro por hora, motivo, modelo e chave, as mais novas primeiro')}
        </caption>
        <thead className="sticky top-0 z-10 bg-surface text-left text-xs text-muted shadow-[inset_0_-1px_0_var(--line)]">
          <tr>
            <th scope="col" className="px-4 py-3 font-medium max-sm:hidden">
              {t('Quando')}
            </th>
            <th scope="col" className="px-4 py-3 font-medium">
              {t('Motivo')}
            </th>
            <th scope="col" className="px-4 py-3 font-medium max-md:hidden">
              {t('Modelo')}
            </th>
            <th scope="col" className="px-4 py-3 font-medium max-md:hidden">
              {t('Chave')}
            </th>
            <th scope="col" className="px-4 py-3 text-right font-medium">
              {t('Vezes')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <HourRow
              key={[row.hour_at, row.api_key_id, row.model_id, row.code, row.status].join(' ')}
              row={row}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function HourRow({ row }: { readonly row: RefusalsOfHour }) {
  const when = spanText(row)
  const model = row.model_id ?? t('sem modelo')
  const key = row.api_key_name ?? t('várias chaves')
  return (
    <tr className="border-b border-line align-top last:border-b-0">
      <td className="px-4 py-3 whitespace-nowrap text-muted tabular-nums max-sm:hidden">{when}</td>
      <td className="px-4 py-3">
        <span className="font-medium">{refusalWords(row.code).title}</span>
        <span className="block text-xs text-muted tabular-nums sm:hidden">{when}</span>
        <span className="block text-xs wrap-anywhere text-muted md:hidden">
          {model} · {key}
        </span>
      </td>
      <td className="px-4 py-3 wrap-anywhere text-muted max-md:hidden">{model}</td>
      <td className="px-4 py-3 wrap-anywhere text-muted max-md:hidden">{key}</td>
      <td className="px-4 py-3 text-right tabular-nums">{wholeNumber(row.refusals)}</td>
    </tr>
  )
}

/** 21/11/2026 14:05, or 21/11/2026 14:05–14:40. */
function spanText({ first_at: first, last_at: last }: RefusalsOfHour): string {
  const [begin, end] = [time(first), time(last)]
  return begin === end ? dateTime(first) : t('{begin} a {end}', { begin: dateTime(first), end })
}

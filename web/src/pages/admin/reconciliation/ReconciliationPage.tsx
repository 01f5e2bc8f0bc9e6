import { useQuery } from '@tanstack/react-query'
import { Scale } from 'lucide-react'
import { useState } from 'react'
import { Card } from '../../../components/Card.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { PeriodField } from '../../../components/PeriodField.tsx'
import { SkeletonRows } from '../../../components/SkeletonRows.tsx'
import { brl } from '../../../format/brl.ts'
import { counted } from '../../../format/number.ts'
import { usd } from '../../../format/usd.ts'
import { StateSwitch } from '../StateSwitch.tsx'
import { DifferenceEntry } from './DifferenceEntry.tsx'
import { ImportCosts } from './ImportCosts.tsx'
import { LastComparison } from './LastComparison.tsx'
import { reportQuery, type Difference, type Report } from './reconciliation-queries.ts'
import { UpstreamDays } from './UpstreamDays.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

const WINDOWS = [7, 35, 90, 365]
const DAYS_AT_FIRST = 35

export function ReconciliationPage() {
  const [days, setDays] = useState(DAYS_AT_FIRST)
  const found = useQuery(reportQuery(days))
  return (
    <>
      <PageTitle
        title={t('Conciliação')}
        description={t('Onde nossos livros e os do processador ou dos provedores não batem.')}
        actions={<PeriodField days={days} windows={WINDOWS} onChange={setDays} className="w-48" />}
      />
      {found.isPending && (
        <Card>
          <SkeletonRows rows={6} label={t('Carregando a conciliação')} />
        </Card>
      )}
      {found.isError && !found.data && (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && (
        <div className="grid gap-5">
          <LastComparison report={found.data} />
          <Differences report={found.data} />
          <UpstreamDays days={found.data.upstream_days} />
          <ImportCosts />
        </div>
      )}
    </>
  )
}

function Differences({ report }: { readonly report: Report }) {
  const [status, setStatus] = useState<Difference['status']>('open')
  const { sums, differences } = report
  const shown = differences.filter((each) => each.status === status)
  const states = {
    open: t('Abertas ({count})', { count: sums.open.count }),
    explained: t('Explicadas ({count})', { count: sums.explained.count }),
    gone: t('Resolvidas sozinhas ({count})', { count: sums.gone.count }),
  }
  const notShown = sums[status].count - shown.length
  return (
    <Card title={t('Diferenças')}>
      <StateSwitch
        legend={t('Quais diferenças')}
        states={states}
        value={status}
        onChange={setStatus}
      />
      {sums[status].count > 0 && <SumText sum={sums[status]} />}
      {shown.length === 0 ? (
        <EmptyState
          icon={<Scale className="size-6" />}
          title={
            status !== 'open'
              ? t('Nenhuma diferença aqui')
              : report.payments.is_current
                ? t('Tudo bate')
                : t('Nenhuma diferença conhecida')
          }
        >
          {status === 'open'
            ? t('Nenhuma diferença espera explicação.')
            : t('Não há nenhuma nesta situação no período.')}
        </EmptyState>
      ) : (
        <ul className="divide-y divide-line">
          {shown.map((difference) => (
            <DifferenceEntry key={difference.id} difference={difference} />
          ))}
        </ul>
      )}
      {notShown > 0 && (
        <p className="pt-4 text-sm text-muted">
          <Trans
            id="Há mais {notShown} que não cabem aqui: diminua o período."
            values={{ notShown: counted(notShown, t('diferença'), t('diferenças')) }}
          />
        </p>
      )}
    </Card>
  )
}

/** Discrepancies do not cancel each other out: the sum is of absolute amounts. */
function SumText({ sum }: { readonly sum: Report['sums']['open'] }) {
  const { difference_brl: reais, difference_usd: dollars } = sum
  const parts = [reais !== 0 && brl(reais), dollars !== 0 && usd(dollars)].filter(Boolean)
  if (parts.length === 0) return null
  return (
    <p className="mb-4 text-sm text-muted">
      <Trans
        id="Somam {parts}, para mais ou para menos."
        values={{ parts: parts.join(t(' e ')) }}
      />
    </p>
  )
}

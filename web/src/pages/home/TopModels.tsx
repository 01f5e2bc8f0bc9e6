import { useQuery } from '@tanstack/react-query'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { readableBrl } from '../../format/brl.ts'
import { counted, percent } from '../../format/number.ts'
import { summaryQuery } from './home-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function TopModels({ days }: { days: number }) {
  const { data: summary, isError, error, refetch } = useQuery(summaryQuery(days))
  const total = summary?.period_totals.cost_billed_brl ?? 0
  return (
    <Card
      title={t('Modelos que mais custaram')}
      description={
        summary && summary.unique_models_used > summary.top_models.length
          ? t('De {uniqueModelsUsed} usados em {days} dias', {
              uniqueModelsUsed: summary.unique_models_used,
              days,
            })
          : undefined
      }
    >
      {isError && <ErrorState error={error} onRetry={() => void refetch()} />}
      {!isError && !summary && <SkeletonRows rows={3} />}
      {summary?.top_models.length === 0 && (
        <EmptyState title={t('Nenhum modelo usado')}>
          {t('Os mais caros do período aparecem aqui.')}
        </EmptyState>
      )}
      {summary && summary.top_models.length > 0 && (
        <ol className="flex flex-col gap-5">
          {summary.top_models.map((model) => {
            const share = total > 0 ? (model.cost_billed_brl / total) * 100 : 0
            return (
              <li key={model.model_id}>
                <div className="flex items-baseline justify-between gap-3">
                  <span className="min-w-0 truncate font-medium">{model.model_name}</span>
                  <span className="tabular-nums">{readableBrl(model.cost_billed_brl)}</span>
                </div>
                <div aria-hidden="true" className="my-1.5 h-1.5 rounded-full bg-sunken">
                  <div
                    style={{ width: `${share}%` }}
                    className="h-full min-w-1 rounded-full bg-accent"
                  />
                </div>
                <p className="text-sm text-muted tabular-nums">
                  <Trans
                    id="{requests} · {share} do gasto"
                    values={{
                      requests: counted(model.requests, t('chamada'), t('chamadas')),
                      share: percent(share),
                    }}
                  />
                </p>
              </li>
            )
          })}
        </ol>
      )}
    </Card>
  )
}

import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { dateTime, shortDay } from '../../../format/date.ts'
import { counted } from '../../../format/number.ts'
import type { Report } from './reconciliation-queries.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

/** When the last comparison ran, and whether it is recent enough. */
export function LastComparison({ report }: { readonly report: Report }) {
  const { payments } = report
  const { last_run: run } = payments
  return (
    <Card
      title={t('Última comparação com o processador')}
      actions={
        payments.is_current ? (
          <Badge tone="success">{t('em dia')}</Badge>
        ) : (
          <Badge tone="danger">{t('atrasada')}</Badge>
        )
      }
    >
      <div className="grid gap-4">
        {!payments.is_current && (
          <Notice tone="warning">
            {payments.last_finished_at === null
              ? t(
                  'Nenhuma comparação terminou ainda: não confie nesta página até a primeira noite.',
                )
              : t(
                  'A última que terminou foi em {lastFinishedAt}. O que mudou depois não foi conferido.',
                  { lastFinishedAt: dateTime(payments.last_finished_at) },
                )}
          </Notice>
        )}
        {run && (
          <p className="text-sm">
            <Trans
              id="{word} em {dateTime} ({processor}), de {from} a {to}: {payments} e {topups} comparados, {mended} {alone}."
              values={{
                word: run.finished_at === null ? t('Começou') : t('Terminou'),
                dateTime: dateTime(run.finished_at ?? run.started_at),
                processor: run.processor,
                from: shortDay(run.from),
                to: shortDay(run.to),
                payments: counted(run.payments, t('pagamento'), t('pagamentos')),
                topups: counted(run.topups, t('recarga'), t('recargas')),
                mended: counted(run.mended, t('corrigida'), t('corrigidas')),
                alone: run.mended === 1 ? t('sozinha') : t('sozinhas'),
              }}
            />
          </p>
        )}
        {run?.failure && (
          <Notice tone="danger">
            <Trans id="Parou por um erro: {failure}" values={{ failure: run.failure }} />
          </Notice>
        )}
      </div>
    </Card>
  )
}

import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { dateTime, shortDay } from '../../../format/date.ts'
import { counted } from '../../../format/number.ts'
import type { Report } from './reconciliation-queries.ts'

/** When the last comparison ran, and whether it is recent enough. */
export function LastComparison({ report }: { readonly report: Report }) {
  const { payments } = report
  const { last_run: run } = payments
  return (
    <Card
      title="Última comparação com o processador"
      actions={
        payments.is_current ? (
          <Badge tone="success">em dia</Badge>
        ) : (
          <Badge tone="danger">atrasada</Badge>
        )
      }
    >
      <div className="grid gap-4">
        {!payments.is_current && (
          <Notice tone="warning">
            {payments.last_finished_at === null
              ? 'Nenhuma comparação terminou ainda: não confie nesta página até a primeira noite.'
              : `A última que terminou foi em ${dateTime(payments.last_finished_at)}. O que mudou depois não foi conferido.`}
          </Notice>
        )}
        {run && (
          <p className="text-sm">
            {run.finished_at === null ? 'Começou' : 'Terminou'} em{' '}
            {dateTime(run.finished_at ?? run.started_at)} ({run.processor}), de {shortDay(run.from)}{' '}
            a {shortDay(run.to)}: {counted(run.payments, 'pagamento', 'pagamentos')} e{' '}
            {counted(run.topups, 'recarga', 'recargas')} comparados,{' '}
            {counted(run.mended, 'corrigida', 'corrigidas')} sozinha{run.mended === 1 ? '' : 's'}.
          </p>
        )}
        {run?.failure && <Notice tone="danger">Parou por um erro: {run.failure}</Notice>}
      </div>
    </Card>
  )
}

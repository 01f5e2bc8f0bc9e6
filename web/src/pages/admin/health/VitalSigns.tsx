import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { DateTime } from '../../../components/DateTime.tsx'
import { calendarDay } from '../../../format/calendar-day.ts'
import { duration } from '../../../format/duration.ts'
import { exactDecimal, scaledBy } from '../../../format/exact-decimal.ts'
import { counted, wholeNumber } from '../../../format/number.ts'
import type { Health } from './health-queries.ts'
import { byteWords } from './health-words.ts'

export function VitalSigns({ health }: { readonly health: Health }) {
  const { holds, database, fx_rate: rate, reconciliation: reconciled, at } = health
  return (
    <dl className="grid gap-px overflow-hidden rounded-card border border-line bg-line shadow-card grid-cols-2 lg:grid-cols-4">
      <Sign
        name="Reservas abertas"
        value={wholeNumber(holds.open)}
        note={
          holds.oldest_at === null
            ? 'nenhuma chamada em curso'
            : `a mais antiga há ${duration(Date.parse(at) - Date.parse(holds.oldest_at))}`
        }
      />
      <Sign
        name="Banco de dados"
        value={byteWords(database.size_bytes)}
        note={[
          `${wholeNumber(database.connections)} de ${wholeNumber(database.connections_max)} conexões`,
          ...database.read_replicas.map(replicaWords),
        ].join('; ')}
      />
      <Sign
        name={
          <Link to="/admin/cambio" className="underline underline-offset-4">
            Câmbio
          </Link>
        }
        value={rate === null ? 'nenhum' : `R$ ${exactDecimal(scaledBy(rate.rate, 4), 4, 4)}`}
        note={rate === null ? 'nenhuma taxa ainda' : `taxa de ${calendarDay(rate.rate_date)}`}
      />
      <Sign
        name={
          <Link to="/admin/conciliacao" className="underline underline-offset-4">
            Conciliação
          </Link>
        }
        value={counted(reconciled.open_differences, 'diferença', 'diferenças')}
        note={
          reconciled.last_finished_at === null ? (
            'nunca rodou até o fim'
          ) : (
            <>
              rodou em <DateTime instant={reconciled.last_finished_at} />
            </>
          )
        }
      />
    </dl>
  )
}

function replicaWords({ name, lag_seconds: lag }: Health['database']['read_replicas'][number]) {
  return lag === null ? `réplica ${name}` : `réplica ${name} de há ${duration(lag * 1_000)}`
}

function Sign(props: {
  readonly name: ReactNode
  readonly value: ReactNode
  readonly note: ReactNode
}) {
  return (
    <div className="bg-surface p-4 sm:p-5">
      <dt className="text-sm text-muted">{props.name}</dt>
      <dd className="mt-1 text-lg font-semibold sm:text-xl tracking-tight tabular-nums">
        {props.value}
      </dd>
      <dd className="mt-1 text-sm text-muted">{props.note}</dd>
    </div>
  )
}

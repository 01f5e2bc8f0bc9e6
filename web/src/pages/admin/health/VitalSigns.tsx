import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { DateTime } from '../../../components/DateTime.tsx'
import { calendarDay } from '../../../format/calendar-day.ts'
import { duration } from '../../../format/duration.ts'
import { exactDecimal, scaledBy } from '../../../format/exact-decimal.ts'
import { counted, wholeNumber } from '../../../format/number.ts'
import type { Health } from './health-queries.ts'
import { byteWords } from './health-words.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function VitalSigns({ health }: { readonly health: Health }) {
  const { holds, database, fx_rate: rate, reconciliation: reconciled, at } = health
  return (
    <dl className="grid gap-px overflow-hidden rounded-card border border-line bg-line shadow-card grid-cols-2 lg:grid-cols-4">
      <Sign
        name={t('Reservas abertas')}
        value={wholeNumber(holds.open)}
        note={
          holds.oldest_at === null
            ? t('nenhuma chamada em curso')
            : t('a mais antiga há {duration}', {
                duration: duration(Date.parse(at) - Date.parse(holds.oldest_at)),
              })
        }
      />
      <Sign
        name={t('Banco de dados')}
        value={byteWords(database.size_bytes)}
        note={[
          t('{connections} de {connectionsMax} conexões', {
            connections: wholeNumber(database.connections),
            connectionsMax: wholeNumber(database.connections_max),
          }),
          ...database.read_replicas.map(replicaWords),
        ].join('; ')}
      />
      <Sign
        name={
          <Link to="/admin/cambio" className="underline underline-offset-4">
            {t('Câmbio')}
          </Link>
        }
        value={rate === null ? t('nenhum') : `R$ ${exactDecimal(scaledBy(rate.rate, 4), 4, 4)}`}
        note={
          rate === null
            ? t('nenhuma taxa ainda')
            : t('taxa de {rateDate}', { rateDate: calendarDay(rate.rate_date) })
        }
      />
      <Sign
        name={
          <Link to="/admin/conciliacao" className="underline underline-offset-4">
            {t('Conciliação')}
          </Link>
        }
        value={counted(reconciled.open_differences, t('diferença'), t('diferenças'))}
        note={
          reconciled.last_finished_at === null ? (
            t('nunca rodou até o fim')
          ) : (
            <>
              <Trans
                id="rodou em {dateTime}"
                values={{ dateTime: <DateTime instant={reconciled.last_finished_at} /> }}
              />
            </>
          )
        }
      />
    </dl>
  )
}

function replicaWords({ name, lag_seconds: lag }: Health['database']['read_replicas'][number]) {
  return lag === null
    ? t('réplica {name}', { name })
    : t('réplica {name} de há {age}', { name, age: duration(lag * 1_000) })
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

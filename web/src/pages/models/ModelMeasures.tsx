/** What was measured: at the maker in the calls of everybody, and in the customer's own calls to one model. */
import { Card } from '../../components/Card.tsx'
import { dateTime } from '../../format/date.ts'
import { duration } from '../../format/duration.ts'
import { counted, percent, wholeNumber } from '../../format/number.ts'
import { HEALTH_DAYS, type MakerHealth } from '../status/health-queries.ts'
import { UptimeBars } from '../status/UptimeBars.tsx'
import type { Call } from '../usage/usage-queries.ts'
import { t } from '../../language/t.ts'
import { Bars, type Bar } from './Bars.tsx'
import { paceWords } from './SpeedMeasures.tsx'

export function FactList({ facts }: { readonly facts: readonly (readonly [string, string])[] }) {
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(8.5rem,1fr))] gap-x-6 gap-y-3 text-sm">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt className="text-xs text-muted">{name}</dt>
          <dd className="font-medium wrap-anywhere tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

interface MakerProps {
  readonly maker: string
  readonly health: MakerHealth | undefined
  /** When it was measured. */
  readonly now: number
}

export function MakerMeasures({ maker, health, now }: MakerProps) {
  return (
    <Card
      title={t('Disponibilidade e latência')}
      description={t(
        'Medidas por fabricante ({maker}), nos últimos {days} dias, nas chamadas de todos os clientes, inclusive as que falharam.',
        { maker, days: HEALTH_DAYS },
      )}
    >
      {health ? (
        <div className="grid gap-4">
          <UptimeBars health={health} days={HEALTH_DAYS} now={now} />
          <FactList
            facts={[
              [t('Chamadas com resposta'), percent(health.uptime_percent)],
              [t('1º byte, mediana'), health.p50_ms === null ? '–' : duration(health.p50_ms)],
              [t('1º byte, p95'), health.p95_ms === null ? '–' : duration(health.p95_ms)],
              [t('Chamadas medidas'), wholeNumber(health.requests)],
            ]}
          />
        </div>
      ) : (
        <p className="text-sm text-muted">
          {t('Nenhuma chamada a este fabricante foi medida ainda.')}
        </p>
      )}
    </Card>
  )
}

interface OwnProps {
  /** The newest first; undefined where they could not be read. */
  readonly calls: readonly Call[] | undefined
}

export function OwnMeasures({ calls }: OwnProps) {
  const answered = (calls ?? []).filter(({ status }) => status === 'charged').toReversed()
  const first = answered.flatMap(pointOf(({ first_byte_ms }) => first_byte_ms, duration))
  const pace = answered.flatMap(pointOf(({ tokens_per_second }) => tokens_per_second, paceWords))
  return (
    <Card
      title={t('Nas suas chamadas')}
      description={t('A latência e a vazão deste modelo nas suas últimas chamadas, até 100.')}
    >
      {answered.length === 0 ? (
        <p className="text-sm text-muted">
          {calls === undefined
            ? t('Não deu para ler as suas chamadas agora.')
            : t('Você ainda não teve respostas deste modelo: nada foi medido.')}
        </p>
      ) : (
        <div className="grid gap-5 sm:grid-cols-2">
          <Series name={t('Tempo até o 1º byte')} points={first} write={duration} />
          <Series name={t('Tokens por segundo')} points={pace} write={paceWords} />
          <p className="text-sm text-muted sm:col-span-2">
            {t('{answered} de {calls} tiveram resposta.', {
              answered: wholeNumber(answered.length),
              calls: counted(calls?.length ?? 0, t('chamada'), t('chamadas')),
            })}
          </p>
        </div>
      )}
    </Card>
  )
}

interface Point extends Bar {
  readonly value: number
}

interface SeriesProps {
  readonly name: string
  readonly points: readonly Point[]
  readonly write: (value: number) => string
}

function pointOf(valueOf: (call: Call) => number | null, write: (value: number) => string) {
  return (call: Call): readonly Point[] => {
    const value = valueOf(call)
    if (value === null) return []
    return [{ id: call.id, value, title: `${dateTime(call.created_at)}: ${write(value)}` }]
  }
}

/** A bar for each call. */
function Series({ name, points, write }: SeriesProps) {
  const sorted = points.map(({ value }) => value).toSorted((one, other) => one - other)
  const median = sorted[Math.floor((sorted.length - 1) / 2)]
  const top = sorted.at(-1)
  const words =
    median === undefined || top === undefined
      ? undefined
      : t('mediana de {median}, até {top}', { median: write(median), top: write(top) })
  return <Bars name={name} words={words} bars={points} />
}

import { ArrowDownRight, ArrowUpRight, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import { readableBrl } from '../../format/brl.ts'
import { duration } from '../../format/duration.ts'
import { counted, percent, shortNumber, wholeNumber } from '../../format/number.ts'
import type { Comparison, Latency } from './compare-periods.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** Today, the period, and the change from the previous period. */
interface PeriodTilesProps {
  comparison: Comparison
  latency: Latency
  days: number
}

export function PeriodTiles({ comparison, latency, days }: PeriodTilesProps) {
  const { now, before } = comparison
  const today = comparison.days.at(-1)
  const failed = now.failedRequests
  return (
    <section
      aria-label={t('Os últimos {days} dias', { days })}
      className="grid gap-px overflow-hidden rounded-card border border-line bg-line shadow-card sm:grid-cols-2"
    >
      <Tile label={t('Gasto hoje')} value={readableBrl(today?.cost_billed_brl ?? 0)}>
        {counted(today?.requests ?? 0, t('chamada'), t('chamadas'))}
      </Tile>
      <Tile label={t('Gasto em {days} dias', { days })} value={readableBrl(now.spent)}>
        <Change
          now={now.spent}
          before={before.spent}
          days={days}
          shown={readableBrl(before.spent)}
        />
      </Tile>
      <Tile label={t('Chamadas em {days} dias', { days })} value={wholeNumber(now.requests)}>
        <Change
          now={now.requests}
          before={before.requests}
          days={days}
          shown={wholeNumber(before.requests)}
        />
        {failed > 0 && (
          <span>
            · {t('{failed}, sem custo', { failed: counted(failed, t('falhou'), t('falharam')) })}
          </span>
        )}
      </Tile>
      <Tile label={t('Tokens em {days} dias', { days })} value={shortNumber(now.tokens)}>
        <Change
          now={now.tokens}
          before={before.tokens}
          days={days}
          shown={shortNumber(before.tokens)}
        />
      </Tile>
      <LatencyLine latency={latency} />
    </section>
  )
}

/** Latency of the newest calls, independent of the period. */
function LatencyLine({
  latency: { calls, p50_ms, p95_ms, first_byte_p50_ms },
}: {
  latency: Latency
}) {
  if (p50_ms === null || p95_ms === null) return null
  return (
    <p className="bg-surface px-5 py-3 text-sm text-muted sm:col-span-2">
      <Trans
        id="Mediana de {span}, p95 de {p95Ms}"
        values={{
          span: <span className="font-medium text-ink">{duration(p50_ms)}</span>,
          p95Ms: duration(p95_ms),
        }}
      />
      {first_byte_p50_ms !== null &&
        t(', primeiro byte em {firstByteP50Ms}', {
          firstByteP50Ms: duration(first_byte_p50_ms),
        })}{' '}
      ({counted(calls, t('última chamada'), t('últimas chamadas'))}).
    </p>
  )
}

function Tile({ label, value, children }: { label: string; value: string; children: ReactNode }) {
  return (
    <div className="bg-surface p-5">
      <p className="text-sm text-muted">{label}</p>
      <p className="mt-1 text-2xl font-semibold tracking-tight tabular-nums">{value}</p>
      <p className="mt-1 text-sm text-muted">{children}</p>
    </div>
  )
}

interface ChangeProps {
  now: number
  before: number
  days: number
  /** The previous value, formatted. */
  shown: string
}

/** More is neither good nor bad here, so the change has no colour. */
function Change({ now, before, days, shown }: ChangeProps) {
  if (before === 0) {
    return <>{now === 0 ? t('Nada ainda') : t('Nada nos {days} dias anteriores', { days })}</>
  }
  const change = ((now - before) / before) * 100
  const Icon = change > 0.05 ? ArrowUpRight : change < -0.05 ? ArrowDownRight : Minus
  const word = change > 0.05 ? t('a mais') : change < -0.05 ? t('a menos') : undefined
  return (
    <>
      <Icon aria-hidden="true" className="mr-1 inline size-4 align-[-0.15em]" />
      <Trans
        id="{word} {days} dias anteriores ({shown})"
        values={{
          word:
            word === undefined
              ? t('Igual aos')
              : t('{change} {word} que nos', { change: percent(Math.abs(change)), word }),
          days,
          shown,
        }}
      />
    </>
  )
}

import { ArrowDownRight, ArrowUpRight, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import { readableBrl } from '../../format/brl.ts'
import { duration } from '../../format/duration.ts'
import { counted, percent, shortNumber, wholeNumber } from '../../format/number.ts'
import type { Comparison, Latency } from './compare-periods.ts'

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
      aria-label={`Os últimos ${days} dias`}
      className="grid gap-px overflow-hidden rounded-card border border-line bg-line shadow-card sm:grid-cols-2"
    >
      <Tile label="Gasto hoje" value={readableBrl(today?.cost_billed_brl ?? 0)}>
        {today?.requests === 1 ? '1 chamada' : `${wholeNumber(today?.requests ?? 0)} chamadas`}
      </Tile>
      <Tile label={`Gasto em ${days} dias`} value={readableBrl(now.spent)}>
        <Change
          now={now.spent}
          before={before.spent}
          days={days}
          shown={readableBrl(before.spent)}
        />
      </Tile>
      <Tile label={`Chamadas em ${days} dias`} value={wholeNumber(now.requests)}>
        <Change
          now={now.requests}
          before={before.requests}
          days={days}
          shown={wholeNumber(before.requests)}
        />
        {failed > 0 && <span> · {wholeNumber(failed)} falharam, sem custo</span>}
      </Tile>
      <Tile label={`Tokens em ${days} dias`} value={shortNumber(now.tokens)}>
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
      Respostas em <span className="font-medium text-ink">{duration(p50_ms)}</span> na metade das
      vezes, em até {duration(p95_ms)} em 95% delas
      {first_byte_p50_ms !== null && `, começando em ${duration(first_byte_p50_ms)}`} (
      {counted(calls, 'última chamada', 'últimas chamadas')}).
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
    return <>{now === 0 ? 'Nada ainda' : `Nada nos ${days} dias anteriores`}</>
  }
  const change = ((now - before) / before) * 100
  const Icon = change > 0.05 ? ArrowUpRight : change < -0.05 ? ArrowDownRight : Minus
  const word = change > 0.05 ? 'a mais' : change < -0.05 ? 'a menos' : 'igual'
  return (
    <>
      <Icon aria-hidden="true" className="mr-1 inline size-4 align-[-0.15em]" />
      {word === 'igual' ? 'Igual aos' : `${percent(Math.abs(change))} ${word} que nos`} {days} dias
      anteriores ({shown})
    </>
  )
}

import type { CapLeft } from '../../money/ledger/attempt.ts'
import { brlText } from '../../platform/lib/brl-text.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

/** A cap of a key. */
export type CapGuard = 'minute' | 'day' | 'task'

export interface CapRefusal {
  readonly guard: CapGuard
  readonly cap: CapLeft
  /** The seconds until the cap starts over; undefined for a task. */
  readonly seconds: number | undefined
  /** The call would fit with this `max_tokens`. */
  readonly tokensThatFit: number | undefined
}

const LIMITS: Readonly<Record<CapGuard, string>> = {
  minute: 'limite por minuto',
  day: 'limite por dia',
  task: 'limite por tarefa (x-svc-session-id)',
}

/** Names the guard, its limit, what is used, when it starts over and how to lift it. */
export function capText({ guard, cap, seconds, tokensThatFit }: CapRefusal): string {
  const { limitNanoBrl, leftNanoBrl } = cap
  const lines = [
    `Esta requisição não cabe no ${LIMITS[guard]} desta chave de API: ${brlText(limitNanoBrl)}, dos quais ${brlText(limitNanoBrl - leftNanoBrl)} já foram gastos ou estão reservados por requisições em andamento.`,
    ...(tokensThatFit === undefined ? [] : [`Com max_tokens de até ${tokensThatFit} ela caberia.`]),
    seconds === undefined
      ? 'O limite de uma tarefa não recomeça.'
      : `O limite recomeça em ${durationText(seconds)}.`,
    guard === 'task'
      ? 'Para continuar, aumente o limite por tarefa da chave, no painel ou com PATCH /api-keys/{id}, ou use outro x-svc-session-id.'
      : 'Para continuar antes disso, aumente o limite da chave, no painel ou com PATCH /api-keys/{id}.',
    'Nada foi cobrado.',
  ]
  return lines.join(' ')
}

function durationText(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  if (seconds < 60) return `${seconds} s`
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Names the guard, its limit, what the call may cost and how to lift it. */
export function maxCostText({
  ceilingNanoBrl,
  maxCostNanoBrl,
  tokensThatFit,
}: {
  readonly ceilingNanoBrl: NanoBrl
  readonly maxCostNanoBrl: NanoBrl
  /** The call would fit with this `max_tokens`. */
  readonly tokensThatFit: number | undefined
}): string {
  return [
    `Esta requisição pode custar até ${brlText(ceilingNanoBrl)}, mais que o máximo que ela mesma define no cabeçalho x-svc-max-cost-brl: ${brlText(maxCostNanoBrl)}.`,
    ...(tokensThatFit === undefined ? [] : [`Com max_tokens de até ${tokensThatFit} ela caberia.`]),
    'Para continuar, aumente o valor do cabeçalho ou remova-o.',
    'Nada foi cobrado.',
  ].join(' ')
}

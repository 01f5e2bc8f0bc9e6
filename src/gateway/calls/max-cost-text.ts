import { brlText } from '../../platform/lib/brl-text.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

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

import type { BadgeTone } from '../../../components/Badge.tsx'
import { brl } from '../../../format/brl.ts'
import { usd } from '../../../format/usd.ts'
import type { Difference } from './reconciliation-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

export const DIFFERENCE_WORDS = perLanguage(
  (): Readonly<Record<Difference['kind'], { text: string; hint: string }>> => ({
    payment_without_top_up: {
      text: t('Pagamento sem recarga'),
      hint: t('O processador recebeu, e nenhuma recarga nossa o conhece.'),
    },
    paid_there_only: {
      text: t('Pago só no processador'),
      hint: t('Lá consta pago; aqui o cliente não foi creditado.'),
    },
    paid_here_only: {
      text: t('Pago só aqui'),
      hint: t('O cliente foi creditado; no processador não consta pago.'),
    },
    amount_differs: {
      text: t('Valores diferentes'),
      hint: t('Pago com valor diferente do da recarga.'),
    },
    returned_differs: {
      text: t('Devoluções diferentes'),
      hint: t('O que voltou a quem pagou não é o mesmo dos dois lados.'),
    },
    paid_twice: { text: t('Pago duas vezes'), hint: t('A mesma recarga tem dois pagamentos.') },
    upstream_cost: {
      text: t('Custo do provedor'),
      hint: t('O que o provedor cobrou no dia difere do que calculamos.'),
    },
  }),
)

export const DIFFERENCE_STATUS = perLanguage(
  (): Readonly<Record<Difference['status'], { text: string; tone: BadgeTone }>> => ({
    open: { text: t('Aberta'), tone: 'danger' },
    explained: { text: t('Explicada'), tone: 'success' },
    gone: { text: t('Sumiu'), tone: 'neutral' },
  }),
)

/** Our amount, theirs and the difference, in the discrepancy's currency. */
export function amountsOf(
  difference: Difference,
): Record<'ours' | 'theirs' | 'between', string> | undefined {
  const { ours_brl, theirs_brl, difference_brl, ours_usd, theirs_usd, difference_usd } = difference
  if (ours_brl !== null && theirs_brl !== null && difference_brl !== null)
    return { ours: brl(ours_brl), theirs: brl(theirs_brl), between: brl(difference_brl) }
  if (ours_usd !== null && theirs_usd !== null && difference_usd !== null)
    return { ours: usd(ours_usd), theirs: usd(theirs_usd), between: usd(difference_usd) }
  return undefined
}

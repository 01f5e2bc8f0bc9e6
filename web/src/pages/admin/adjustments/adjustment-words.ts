import type { BadgeTone } from '../../../components/Badge.tsx'
import { brl } from '../../../format/brl.ts'
import type { AdjustmentKind, AdjustmentStatus } from './adjustment-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

export const KIND_WORDS = perLanguage((): Readonly<Record<AdjustmentKind, string>> => ({
  credit: t('Crédito'),
  debit: t('Débito'),
  promotional_credit: t('Crédito promocional'),
}))

export const STATUS_WORDS = perLanguage(
  (): Readonly<Record<AdjustmentStatus, { text: string; tone: BadgeTone }>> => ({
    pending: { text: t('Espera aprovação'), tone: 'warning' },
    posted: { text: t('Lançado'), tone: 'success' },
    rejected: { text: t('Recusado'), tone: 'neutral' },
  }),
)

/** With the sign of its effect on the balance. */
export function signedBrl({
  kind,
  amount_brl,
}: {
  kind: AdjustmentKind
  amount_brl: number
}): string {
  return `${kind === 'debit' ? '−' : '+'} ${brl(amount_brl)}`
}

/** The effect as a sentence, for the confirmation. */
export function effectWords(kind: AdjustmentKind, amount: number, name: string): string {
  const money = brl(amount)
  if (kind === 'debit') return t('{money} saem do saldo de {name}.', { money, name })
  if (kind === 'credit') return t('{money} entram no saldo de {name}.', { money, name })
  return t(
    '{money} entram no saldo de {name} como promocional: podem ser gastos, mas não reembolsados.',
    { money, name },
  )
}

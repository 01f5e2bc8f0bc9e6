import type { BadgeTone } from '../../../components/Badge.tsx'
import { brl } from '../../../format/brl.ts'
import type { AdjustmentKind, AdjustmentStatus } from './adjustment-queries.ts'

export const KIND_WORDS: Readonly<Record<AdjustmentKind, string>> = {
  credit: 'Crédito',
  debit: 'Débito',
  promotional_credit: 'Crédito promocional',
}

export const STATUS_WORDS: Readonly<Record<AdjustmentStatus, { text: string; tone: BadgeTone }>> = {
  pending: { text: 'Espera aprovação', tone: 'warning' },
  posted: { text: 'Lançado', tone: 'success' },
  rejected: { text: 'Recusado', tone: 'neutral' },
}

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
  if (kind === 'debit') return `${money} saem do saldo de ${name}.`
  if (kind === 'credit') return `${money} entram no saldo de ${name}.`
  return `${money} entram no saldo de ${name} como promocional: podem ser gastos, mas não reembolsados.`
}

import { brl } from './values.ts'

const described = (description: string) => ({ ...brl, description })

/** The balance as `balanceFields` writes it: balance = topped up + other credits - spent - refunded - other debits. */
export const balanceShape = {
  balance_brl: described(
    'total_topped_up_brl + total_other_credits_brl - total_spent_brl - total_refunded_brl - total_other_debits_brl',
  ),
  total_topped_up_brl: described('Recargas pagas.'),
  total_other_credits_brl: described('Créditos promocionais, recompensas e ajustes a favor.'),
  total_spent_brl: described('Cobranças de uso.'),
  total_refunded_brl: described('Reembolsos, também os que estão a caminho.'),
  total_other_debits_brl: described('Contestações, ajustes e recompensas retiradas.'),
}

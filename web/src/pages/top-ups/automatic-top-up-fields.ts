/** Converts the form's fields to the API's body. */
import type { Body } from '../../api/client.ts'
import { parseAmount } from '../../format/parse-amount.ts'
import { typedAmount } from '../../format/typed-amount.ts'
import { formText } from '../../lib/form-text.ts'
import type { AutomaticTopUpSetting } from './top-up-queries.ts'
import { t } from '../../language/t.ts'

export type AutomaticTopUpInput = Body<'put', '/topups/automatic'>

export function readAutomaticTopUp(
  form: HTMLFormElement,
): { readonly input: AutomaticTopUpInput } | { readonly fault: string } {
  const fields = new FormData(form)
  const threshold = amountOf(fields, 'threshold')
  const amount = amountOf(fields, 'amount')
  const limit = amountOf(fields, 'limit')
  if (threshold === undefined || amount === undefined || limit === undefined)
    return { fault: t('Há um valor que não entendemos. Escreva em reais, como 50 ou 49,90.') }
  if (amount === null || threshold === null)
    return { fault: t('Preencha os dois primeiros valores.') }
  if (limit !== null && limit < amount)
    return { fault: t('O limite por mês precisa ser ao menos o valor de uma recarga.') }
  return {
    input: {
      is_enabled: true,
      threshold_brl: threshold,
      amount_brl: amount,
      payment_method_id: formText(fields, 'card'),
      monthly_limit_brl: limit,
    },
  }
}

/** `null`: empty. Undefined: not an amount. */
function amountOf(fields: FormData, name: string): number | null | undefined {
  const text = formText(fields, name)
  return text === '' ? null : parseAmount(text)
}

export function limitText(current: AutomaticTopUpSetting | null): string {
  if (current === null) return '500'
  return current.monthly_limit_brl === null ? '' : typedAmount(current.monthly_limit_brl)
}

/** Reads the form of a new card, and clears the data that must not be kept. */
import type { Body } from '../../api/client.ts'
import { formText } from '../../lib/form-text.ts'

export function cardOf(form: HTMLFormElement): Body<'post', '/payment-methods'> {
  const fields = new FormData(form)
  const text = (name: string): string => formText(fields, name)
  const [month = '', year = ''] = text('expiry').split('/')
  return {
    card: {
      holder_name: text('holder_name'),
      number: text('number'),
      expiry_month: month,
      expiry_year: `20${year}`,
      ccv: text('ccv'),
    },
    holder: {
      name: text('name'),
      email: text('email'),
      cpf_cnpj: text('cpf_cnpj'),
      postal_code: text('postal_code'),
      address_number: text('address_number'),
      phone: text('phone'),
    },
  }
}

/** Focuses the number, which must be typed again. */
export function forgetCard(form: HTMLFormElement): void {
  for (const name of ['number', 'ccv']) {
    const field = form.elements.namedItem(name)
    if (!(field instanceof HTMLInputElement)) continue
    field.value = ''
    if (name === 'number') field.focus()
  }
}

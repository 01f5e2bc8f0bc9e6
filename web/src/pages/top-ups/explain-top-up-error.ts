import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import { brl } from '../../format/brl.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** The error code of the specification contains the limits; no other field has them. */
const OUT_OF_RANGE = /^amount must be number between (\d+) and (\d+)$/
const TOP_UP_ID = /\/v1\/topups\/([0-9a-f-]{36})/

export function explainTopUpError(error: unknown): string {
  if (!(error instanceof ApiError)) return explainError(error)
  const range = OUT_OF_RANGE.exec(error.code)
  if (range)
    return t(
      'Escolha um valor de {range} a {range2}, com no máximo duas casas depois da vírgula.',
      { range: brl(Number(range[1])), range2: brl(Number(range[2])) },
    )
  // The processor's message is in Portuguese and more specific than ours.
  if (error.code === 'payment_refused' && error.details)
    return isOfTaxId(error.details) ? TAX_ID_REFUSED() : error.details
  return error.code === 'card_rejected' ? explainCardError(error) : explainError(error)
}

const TAX_ID_REFUSED = perLanguage(() =>
  t(
    'O processador de pagamentos não aceitou o CPF ou CNPJ do seu perfil. Confira o número. CNPJ com letras ele ainda não aceita: use um CPF ou fale com a gente.',
  ),
)

function isOfTaxId(details: string): boolean {
  return /CPF|CNPJ/i.test(details)
}

/** The customer must complete the profile. */
export function isOfProfile(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    (error.code === 'cpf_required' ||
      error.code === 'email_required' ||
      (error.code === 'payment_refused' && isOfTaxId(error.details ?? '')))
  )
}

/** Only the amount is at fault. */
export function isOutOfRange(error: unknown): boolean {
  return error instanceof ApiError && OUT_OF_RANGE.test(error.code)
}

/** Details that begin with a field name are ours; others are the words of the processor. */
export function explainCardError(error: unknown): string {
  if (!(error instanceof ApiError)) return explainError(error)
  const details = error.details ?? ''
  if (error.code === 'missing_card_or_holder_info')
    return t('Falta preencher um dado do cartão ou do titular.')
  if (error.code !== 'card_rejected') return explainError(error)
  const known = CARD_FAULTS().find(([start]) => details.startsWith(start))
  if (known) return known[1]
  return details === '' || details.startsWith('card')
    ? t('O cartão foi recusado. Confira os dados ou use outro cartão.')
    : details
}

const CARD_FAULTS = perLanguage((): readonly (readonly [string, string])[] => [
  ['card.number', t('Confira o número do cartão: um dos dígitos não bate.')],
  ['card.ccv', t('O código de segurança tem 3 ou 4 dígitos.')],
  ['card.expiry', t('Confira a validade: mês de 01 a 12 e os dois últimos dígitos do ano.')],
  ['card: está vencido', t('Este cartão já venceu. Use outro.')],
  ['card.holder_name', t('Escreva o nome como está no cartão, sem números.')],
])

/** The id of a payment with unknown outcome, which the answer names. */
export function topUpIdOf(error: unknown): string | undefined {
  return error instanceof ApiError ? TOP_UP_ID.exec(error.details ?? '')?.[1] : undefined
}

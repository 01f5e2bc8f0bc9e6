import { Card } from '../../components/Card.tsx'
import { brl } from '../../format/brl.ts'
import type { TrialCredit } from './trial-credit-query.ts'
import { TrialCreditForm } from './TrialCreditForm.tsx'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** The words of the offer, also in the guide. */
export const TRIAL_TEXT = perLanguage(() =>
  t(
    'Sem cartão e sem pagar nada: só um CPF ou CNPJ, uma vez para cada pessoa. O crédito é promocional: é gasto primeiro e não é devolvido.',
  ),
)

export function trialTitle({ amount_brl }: TrialCredit): string {
  return t('Experimente com {amountBrl} por nossa conta', { amountBrl: brl(amount_brl) })
}

export function TrialCreditCard({ offer }: { readonly offer: TrialCredit }) {
  return (
    <Card title={trialTitle(offer)} description={TRIAL_TEXT()}>
      <TrialCreditForm offer={offer} />
    </Card>
  )
}

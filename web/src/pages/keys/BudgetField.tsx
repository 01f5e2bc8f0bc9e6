import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AmountInput } from '../../components/AmountInput.tsx'
import { Field } from '../../components/Field.tsx'
import { Select } from '../../components/Select.tsx'
import { brl } from '../../format/brl.ts'
import { parseAmount } from '../../format/parse-amount.ts'
import { usd } from '../../format/usd.ts'
import { BUDGET_DECIMALS, BUDGET_RATE, budgetText, toUsd } from './key-fields.ts'
import { rateQuery, type ApiKey } from './key-queries.ts'
import { t } from '../../language/t.ts'

interface BudgetFieldProps {
  readonly apiKey: ApiKey | undefined
  readonly error: string | undefined
}

/** Taken in reais or in dollars. The budget itself is in dollars, so its worth in reais follows the rate. */
export function BudgetField({ apiKey: key, error }: BudgetFieldProps) {
  const rate = useQuery(rateQuery).data ?? undefined
  const [wanted, setWanted] = useState(key?.budget ? 'usd' : 'brl')
  const [text, setText] = useState(() => budgetText(key))
  // Without a rate, reais cannot be taken.
  const currency = rate === undefined ? 'usd' : wanted
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_7rem] gap-3">
      <Field label={t('Orçamento')} hint={hintOf(text, currency, rate)} error={error}>
        {(control) => (
          <AmountInput
            {...control}
            currency={currency === 'brl' ? 'R$' : 'US$'}
            name="budget"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Field label={t('Moeda')}>
        {(control) => (
          <Select
            {...control}
            name="budget_currency"
            value={currency}
            disabled={rate === undefined}
            onChange={(event) => setWanted(event.target.value)}
          >
            <option value="brl">{t('Reais')}</option>
            <option value="usd">{t('Dólares')}</option>
          </Select>
        )}
      </Field>
      <input type="hidden" name={BUDGET_RATE} value={currency === 'brl' ? rate : ''} />
    </div>
  )
}

function hintOf(text: string, currency: string, rate: number | undefined): string {
  const amount = parseAmount(text, BUDGET_DECIMALS)
  if (amount === undefined || rate === undefined) return t('Vazio: sem orçamento.')
  return currency === 'brl'
    ? t(
        'Hoje são {amount}, e é em dólares que o orçamento fica: em reais ele acompanha a cotação.',
        { amount: usd(toUsd(amount, rate)) },
      )
    : t('Hoje são {brl}; em reais ele acompanha a cotação.', { brl: brl(amount * rate) })
}

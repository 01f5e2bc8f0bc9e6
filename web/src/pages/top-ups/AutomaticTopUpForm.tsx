import { useState, type SubmitEvent } from 'react'
import { AmountInput } from '../../components/AmountInput.tsx'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { typedAmount } from '../../format/typed-amount.ts'
import { limitText, readAutomaticTopUp } from './automatic-top-up-fields.ts'
import { explainTopUpError } from './explain-top-up-error.ts'
import type { AutomaticTopUpSetting, SavedCard } from './top-up-queries.ts'
import { cardText } from './top-up-words.ts'
import { useAutomaticTopUp } from './use-automatic-top-up.ts'
import { t } from '../../language/t.ts'

interface AutomaticTopUpFormProps {
  readonly current: AutomaticTopUpSetting | null
  readonly cards: readonly SavedCard[]
  readonly onDone: () => void
}

export function AutomaticTopUpForm({ current, cards, onDone }: AutomaticTopUpFormProps) {
  const { save, turnOff } = useAutomaticTopUp(onDone)
  const [fault, setFault] = useState<string>()
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const read = readAutomaticTopUp(event.currentTarget)
    setFault('fault' in read ? read.fault : undefined)
    if ('input' in read) save.mutate(read.input)
  }
  const error = save.error ?? turnOff.error
  return (
    <form onSubmit={submit} className="grid gap-4">
      <AmountField
        label={t('Quando o saldo ficar abaixo de')}
        name="threshold"
        amount={current?.threshold_brl ?? 20}
      />
      <AmountField label={t('Recarregar')} name="amount" amount={current?.amount_brl ?? 100} />
      <Field label={t('No cartão')}>
        {(control) => (
          <Select
            {...control}
            name="card"
            defaultValue={current?.payment_method_id ?? cards[0]?.id}
          >
            {cards.map((card) => (
              <option key={card.id} value={card.id}>
                {cardText(card)}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <Field label={t('No máximo por mês')} hint={t('Vazio: sem limite.')}>
        {(control) => <AmountInput {...control} name="limit" defaultValue={limitText(current)} />}
      </Field>
      {(fault ?? error) && (
        <Notice tone="danger" role="alert">
          {fault ?? explainTopUpError(error)}
        </Notice>
      )}
      <div className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" isBusy={save.isPending}>
          {current?.is_enabled ? t('Salvar') : t('Ligar')}
        </Button>
        <Button variant="secondary" onClick={onDone}>
          {t('Cancelar')}
        </Button>
        {current?.is_enabled && (
          <Button variant="quiet" isBusy={turnOff.isPending} onClick={() => turnOff.mutate()}>
            {t('Desligar')}
          </Button>
        )}
      </div>
    </form>
  )
}

interface AmountFieldProps {
  readonly label: string
  readonly name: string
  readonly amount: number
}

function AmountField({ label, name, amount }: AmountFieldProps) {
  return (
    <Field label={label}>
      {(control) => (
        <AmountInput {...control} name={name} defaultValue={typedAmount(amount)} required />
      )}
    </Field>
  )
}

import { useState, type SubmitEvent } from 'react'
import { AmountInput } from '../../../components/AmountInput.tsx'
import { Choice } from '../../../components/Choice.tsx'
import { Field } from '../../../components/Field.tsx'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Input } from '../../../components/Input.tsx'
import { parseAmount } from '../../../format/parse-amount.ts'
import { typedAmount } from '../../../format/typed-amount.ts'
import type { AdjustmentInput, AdjustmentKind } from './adjustment-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

const AMOUNT_BRL_MAX = 1_000_000
const REFERENCE = /^[\x21-\x7e]{1,100}$/

const KINDS = perLanguage(
  () =>
    [
      { value: 'credit', text: t('Crédito') },
      { value: 'debit', text: t('Débito') },
      { value: 'promotional_credit', text: t('Promocional') },
    ] as const satisfies readonly { value: AdjustmentKind; text: string }[],
)

interface Props {
  readonly customerId: string
  /** The input of an earlier step, to be edited again. */
  readonly draft: AdjustmentInput | undefined
  readonly onReview: (input: AdjustmentInput) => void
  readonly onCancel: () => void
}

interface Faults {
  readonly amount?: string
  readonly reason?: string
  readonly reference?: string
}

export function AdjustmentForm({ customerId, draft, onReview, onCancel }: Props) {
  const [kind, setKind] = useState<AdjustmentKind>(draft?.kind ?? 'credit')
  const [amount, setAmount] = useState(draft ? typedAmount(draft.amount_brl) : '')
  const [reason, setReason] = useState(draft?.reason ?? '')
  // One reference each time the form opens: an adjustment that is sent twice is posted once.
  const [reference, setReference] = useState(
    () => draft?.reference ?? `painel-${crypto.randomUUID()}`,
  )
  const [faults, setFaults] = useState<Faults>({})

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const value = parseAmount(amount)
    const found = faultsOf(value, reason.trim(), reference.trim())
    setFaults(found)
    if (value === undefined || Object.keys(found).length > 0) return
    onReview({
      customer_id: customerId,
      kind,
      amount_brl: value,
      reason: reason.trim(),
      reference: reference.trim(),
    })
  }

  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <Choice legend={t('O que lançar')} options={KINDS()} value={kind} onChange={setKind} />
      <Field label={t('Valor')} error={faults.amount}>
        {(control) => (
          <AmountInput
            {...control}
            value={amount}
            placeholder="50,00"
            onChange={(event) => setAmount(event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t('Motivo')}
        hint={t('Fica guardado com o lançamento. Escreva o que aconteceu, sem dados pessoais.')}
        error={faults.reason}
      >
        {(control) => (
          <Input
            {...control}
            value={reason}
            maxLength={500}
            autoComplete="off"
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      <Field
        label={t('Referência')}
        hint={t(
          'O número do chamado, por exemplo. Com a mesma referência nada é lançado duas vezes.',
        )}
        error={faults.reference}
      >
        {(control) => (
          <Input
            {...control}
            value={reference}
            maxLength={100}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setReference(event.target.value)}
          />
        )}
      </Field>
      <FormEnd error={undefined} submitLabel={t('Conferir')} isBusy={false} onCancel={onCancel} />
    </form>
  )
}

function faultsOf(amount: number | undefined, reason: string, reference: string): Faults {
  return {
    ...(amount === undefined || amount <= 0
      ? { amount: t('Digite um valor em reais, como 50 ou 49,90.') }
      : amount > AMOUNT_BRL_MAX && { amount: t('Um ajuste vai até R$ 1.000.000,00.') }),
    ...(reason.length < 3 && { reason: t('Escreva o motivo, com ao menos 3 letras.') }),
    ...(!REFERENCE.test(reference) && {
      reference: t('Use letras sem acento, números e sinais, sem espaços.'),
    }),
  }
}

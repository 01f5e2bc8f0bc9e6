import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Badge } from '../../components/Badge.tsx'
import { Card } from '../../components/Card.tsx'
import { Field } from '../../components/Field.tsx'
import { AmountInput } from '../../components/AmountInput.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Money } from '../../components/Money.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { Skeleton } from '../../components/Skeleton.tsx'
import { useToast } from '../../components/Toast.tsx'
import { typedAmount } from '../../format/typed-amount.ts'
import { parseAmount } from '../../format/parse-amount.ts'
import { formText } from '../../lib/form-text.ts'
import { explainTopUpError } from './explain-top-up-error.ts'
import {
  automaticTopUpQuery,
  paymentMethodsQuery,
  type AutomaticTopUpSetting,
  type SavedCard,
} from './top-up-queries.ts'
import { cardText } from './top-up-words.ts'

export function AutomaticTopUp() {
  const setting = useQuery(automaticTopUpQuery)
  const cards = useQuery(paymentMethodsQuery)
  const [isEditing, setIsEditing] = useState(false)
  const failure = setting.error ?? cards.error
  const current = setting.data
  const isOn = current?.is_enabled === true
  return (
    <Card
      title="Recarga automática"
      actions={<Badge tone={isOn ? 'success' : 'neutral'}>{isOn ? 'Ligada' : 'Desligada'}</Badge>}
    >
      {(setting.isPending || cards.isPending) && <Skeleton className="h-20" />}
      {failure && <ErrorState error={failure} onRetry={() => void setting.refetch()} />}
      {current !== undefined && cards.data && (
        <div className="grid gap-4">
          {current?.disabled_reason && <WhyOff reason={current.disabled_reason} />}
          {isEditing ? (
            <Settings current={current} cards={cards.data} onDone={() => setIsEditing(false)} />
          ) : (
            <>
              <Summary current={current} cards={cards.data} />
              {cards.data.length > 0 && (
                <Button
                  variant="secondary"
                  className="justify-self-start"
                  onClick={() => setIsEditing(true)}
                >
                  {isOn ? 'Alterar' : 'Ligar recarga automática'}
                </Button>
              )}
            </>
          )}
        </div>
      )}
    </Card>
  )
}

function Summary({
  current,
  cards,
}: {
  readonly current: AutomaticTopUpSetting | null
  readonly cards: readonly SavedCard[]
}) {
  if (!current?.is_enabled)
    return (
      <p className="text-sm text-muted">
        Quando o saldo ficar baixo, cobramos o cartão que você escolher, e suas chamadas não param.
        {cards.length === 0 && ' Para ligar, salve primeiro um cartão.'}
      </p>
    )
  const card = cards.find(({ id }) => id === current.payment_method_id)
  return (
    <p className="text-sm">
      Quando o saldo ficar abaixo de <Money amount={current.threshold_brl} />, recarregamos{' '}
      <Money amount={current.amount_brl} /> no cartão {card ? cardText(card) : 'salvo'}
      {current.monthly_limit_brl === null ? (
        '.'
      ) : (
        <>
          , até <Money amount={current.monthly_limit_brl} /> por mês.
        </>
      )}
    </p>
  )
}

function WhyOff({
  reason,
}: {
  readonly reason: NonNullable<AutomaticTopUpSetting['disabled_reason']>
}) {
  return (
    <Notice tone="warning">
      {reason === 'card_rejected'
        ? 'Desligamos porque o cartão foi recusado. Escolha outro cartão e ligue de novo.'
        : 'Desligamos porque o cartão foi excluído. Escolha outro cartão e ligue de novo.'}
    </Notice>
  )
}

interface SettingsProps {
  readonly current: AutomaticTopUpSetting | null
  readonly cards: readonly SavedCard[]
  readonly onDone: () => void
}

function Settings({ current, cards, onDone }: SettingsProps) {
  const { save, turnOff } = useSettings(onDone)
  const [fault, setFault] = useState<string>()
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const threshold = amountOf(fields, 'threshold')
    const amount = amountOf(fields, 'amount')
    const limit = amountOf(fields, 'limit')
    if (threshold === undefined || amount === undefined || limit === undefined)
      setFault('Há um valor que não entendemos. Escreva em reais, como 50 ou 49,90.')
    else if (amount === null || threshold === null) setFault('Preencha os dois primeiros valores.')
    else if (limit !== null && limit < amount)
      setFault('O limite por mês precisa ser ao menos o valor de uma recarga.')
    else {
      setFault(undefined)
      save.mutate({
        is_enabled: true,
        threshold_brl: threshold,
        amount_brl: amount,
        payment_method_id: formText(fields, 'card'),
        monthly_limit_brl: limit,
      })
    }
  }
  const error = save.error ?? turnOff.error
  return (
    <form onSubmit={submit} className="grid gap-4">
      <Field label="Quando o saldo ficar abaixo de">
        {(control) => (
          <AmountInput
            {...control}
            name="threshold"
            defaultValue={typedAmount(current?.threshold_brl ?? 20)}
            required
          />
        )}
      </Field>
      <Field label="Recarregar">
        {(control) => (
          <AmountInput
            {...control}
            name="amount"
            defaultValue={typedAmount(current?.amount_brl ?? 100)}
            required
          />
        )}
      </Field>
      <Field label="No cartão">
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
      <Field label="No máximo por mês" hint="Vazio: sem limite.">
        {(control) => <AmountInput {...control} name="limit" defaultValue={limitText(current)} />}
      </Field>
      {(fault ?? error) && (
        <Notice tone="danger" role="alert">
          {fault ?? explainTopUpError(error)}
        </Notice>
      )}
      <div className="flex flex-wrap gap-3">
        <Button type="submit" variant="primary" isBusy={save.isPending}>
          {current?.is_enabled ? 'Salvar' : 'Ligar'}
        </Button>
        <Button variant="secondary" onClick={onDone}>
          Cancelar
        </Button>
        {current?.is_enabled && (
          <Button variant="quiet" isBusy={turnOff.isPending} onClick={() => turnOff.mutate()}>
            Desligar
          </Button>
        )}
      </div>
    </form>
  )
}

function limitText(current: AutomaticTopUpSetting | null): string {
  if (current === null) return '500'
  return current.monthly_limit_brl === null ? '' : typedAmount(current.monthly_limit_brl)
}

/** `null`: nothing was typed. Undefined: no amount. */
function amountOf(fields: FormData, name: string): number | null | undefined {
  const text = formText(fields, name)
  return text === '' ? null : parseAmount(text)
}

function useSettings(onDone: () => void) {
  const queries = useQueryClient()
  const toast = useToast()
  const save = useMutation({
    mutationFn: (body: Parameters<typeof api.put<'/topups/automatic'>>[1]) =>
      api.put('/topups/automatic', body),
    onSuccess(saved) {
      queries.setQueryData(automaticTopUpQuery.queryKey, saved)
      toast('Recarga automática ligada.')
      onDone()
    },
  })
  const turnOff = useMutation({
    mutationFn: () => api.delete('/topups/automatic'),
    onSuccess() {
      queries.setQueryData(automaticTopUpQuery.queryKey, null)
      toast('Recarga automática desligada.')
      onDone()
    },
  })
  return { save, turnOff }
}

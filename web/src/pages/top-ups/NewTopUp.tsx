import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CreditCard, QrCode, ReceiptText } from 'lucide-react'
import { useRef, useState, type SubmitEvent } from 'react'
import { api } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { Choice } from '../../components/Choice.tsx'
import { AmountInput } from '../../components/AmountInput.tsx'
import { Field } from '../../components/Field.tsx'
import { Notice } from '../../components/Notice.tsx'
import { Select } from '../../components/Select.tsx'
import { brl } from '../../format/brl.ts'
import { wholeNumber } from '../../format/number.ts'
import { parseAmount } from '../../format/parse-amount.ts'
import { explainTopUpError, isOfProfile, isOutOfRange, topUpIdOf } from './explain-top-up-error.ts'
import { NewCardDialog } from './NewCardDialog.tsx'
import { paymentMethodsQuery, TOP_UPS } from './top-up-queries.ts'
import type { TopUp } from './top-up-queries.ts'
import { cardText } from './top-up-words.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

const PRESETS = [50, 100, 200, 500]

const METHODS = perLanguage(
  () =>
    [
      { value: 'pix', text: 'Pix', hint: t('Cai em segundos'), icon: QrCode },
      { value: 'card', text: t('Cartão'), hint: t('Cai na hora'), icon: CreditCard },
      { value: 'boleto', text: t('Boleto'), hint: t('Até 3 dias úteis'), icon: ReceiptText },
    ] as const,
)

export function NewTopUp({ onCreated }: { readonly onCreated: (id: string) => void }) {
  const [method, setMethod] = useState<TopUp['method']>('pix')
  const [text, setText] = useState('100')
  const [cardId, setCardId] = useState<string>()
  const [isAddingCard, setIsAddingCard] = useState(false)
  const amountField = useRef<HTMLInputElement>(null)
  const [amountError, setAmountError] = useState<string>()
  const cards = useQuery(paymentMethodsQuery)
  const queries = useQueryClient()
  const amount = parseAmount(text) || undefined
  const chosenCard = cardId ?? cards.data?.[0]?.id

  const create = useSubmit({
    mutationFn: (amount: number, once) =>
      api.post(
        '/topups',
        {
          amount,
          method,
          ...(method === 'card' && chosenCard ? { payment_method_id: chosenCard } : {}),
        },
        { once },
      ),
    onSuccess(topUp) {
      queries.setQueryData([...TOP_UPS, topUp.id], topUp)
      onCreated(topUp.id)
    },
    onError(error) {
      // The outcome of this payment is unknown. Showing it keeps the customer from paying twice.
      const id = topUpIdOf(error)
      if (id !== undefined) onCreated(id)
    },
    onSettled: () => queries.invalidateQueries({ queryKey: TOP_UPS }),
  })

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    if (amount === undefined) {
      setAmountError(t('Digite um valor em reais, como 50 ou 49,90.'))
      amountField.current?.focus()
    } else create.mutate(amount)
  }

  const changeAmount = (text: string): void => {
    setText(text)
    setAmountError(undefined)
    create.reset()
  }

  const outOfRange = isOutOfRange(create.error) ? explainTopUpError(create.error) : undefined
  const needsCard = method === 'card' && cards.data?.length === 0
  return (
    <Card title={t('Nova recarga')}>
      <form onSubmit={submit} noValidate className="grid gap-6">
        <Choice
          legend={t('Como você quer pagar?')}
          options={METHODS()}
          value={method}
          onChange={setMethod}
        />
        <div className="grid gap-3">
          <Field label={t('Valor')} error={amountError ?? outOfRange}>
            {(control) => (
              <AmountInput
                {...control}
                ref={amountField}
                value={text}
                onChange={(event) => changeAmount(event.target.value)}
              />
            )}
          </Field>
          <div className="grid grid-cols-4 gap-2 sm:flex">
            {PRESETS.map((preset) => (
              <Button
                key={preset}
                variant="secondary"
                className="px-2 aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:text-accent sm:px-4"
                aria-pressed={amount === preset}
                onClick={() => changeAmount(String(preset))}
              >
                R$ {wholeNumber(preset)}
              </Button>
            ))}
          </div>
        </div>
        {method === 'card' && cards.data && cards.data.length > 0 && (
          <Field label={t('Cartão')}>
            {(control) => (
              <Select
                {...control}
                value={chosenCard}
                onChange={(event) => setCardId(event.target.value)}
              >
                {cards.data.map((card) => (
                  <option key={card.id} value={card.id}>
                    {cardText(card)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        {needsCard && (
          <div className="grid justify-items-start gap-3">
            <p className="text-sm text-muted">{t('Você ainda não tem um cartão salvo.')}</p>
            <Button variant="secondary" onClick={() => setIsAddingCard(true)}>
              {t('Cadastrar cartão')}
            </Button>
          </div>
        )}
        {create.error && outOfRange === undefined && <Failure error={create.error} />}
        <Button type="submit" variant="primary" isBusy={create.isPending} disabled={needsCard}>
          {submitText(method, amount)}
        </Button>
      </form>
      <NewCardDialog isOpen={isAddingCard} onClose={() => setIsAddingCard(false)} />
    </Card>
  )
}

function Failure({ error }: { readonly error: Error }) {
  return (
    <Notice tone="danger" role="alert">
      {explainTopUpError(error)}{' '}
      {isOfProfile(error) && (
        <Link to="/perfil" className="font-medium underline underline-offset-4">
          {t('Abrir o perfil')}
        </Link>
      )}
    </Notice>
  )
}

function submitText(method: TopUp['method'], amount: number | undefined): string {
  const of = amount === undefined ? '' : t(' de {amount}', { amount: brl(amount) })
  if (method === 'card')
    return amount === undefined ? t('Pagar') : t('Pagar {amount}', { amount: brl(amount) })
  return method === 'pix' ? t('Gerar Pix{of}', { of }) : t('Gerar boleto{of}', { of })
}

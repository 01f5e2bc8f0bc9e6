import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState, type SubmitEvent } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { api, type Body } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { AmountInput } from '../../components/AmountInput.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Money } from '../../components/Money.tsx'
import { useToast } from '../../components/Toast.tsx'
import { brl } from '../../format/brl.ts'
import { parseAmount } from '../../format/parse-amount.ts'
import { typedAmount } from '../../format/typed-amount.ts'
import type { RefundPage } from './refund-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

type Available = Pick<RefundPage, 'refundable_brl' | 'withdrawable_brl' | 'minimum_brl'>

export function RefundRequest({ available }: { readonly available: Available }) {
  const { refundable_brl: refundable, withdrawable_brl: withdrawable } = available
  return (
    <Card title={t('Pedir reembolso')}>
      <dl className="mb-5 grid gap-4 sm:grid-cols-2">
        <Sum term={t('Pode ser reembolsado')} amount={refundable} />
        <Sum term={t('Ainda no prazo de 7 dias')} amount={withdrawable} />
      </dl>
      {refundable > 0 ? (
        <RequestForm available={available} />
      ) : (
        <p className="text-sm text-muted">
          {t(
            'Não há saldo a devolver agora. O que está reservado por chamadas em andamento conta assim que elas terminarem.',
          )}
        </p>
      )}
    </Card>
  )
}

function Sum({ term, amount }: { readonly term: string; readonly amount: number }) {
  return (
    <div className="rounded-lg bg-sunken px-4 py-3">
      <dt className="text-sm text-muted">{term}</dt>
      <dd className="text-xl font-semibold">
        <Money amount={amount} />
      </dd>
    </div>
  )
}

function RequestForm({ available }: { readonly available: Available }) {
  const [text, setText] = useState('')
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const [asked, setAsked] = useState<Body<'post', '/me/refunds'>>()
  const amountField = useRef<HTMLInputElement>(null)
  const queries = useQueryClient()
  const toast = useToast()
  const request = useSubmit({
    mutationFn: (body: Body<'post', '/me/refunds'>, once) =>
      api.post('/me/refunds', body, { once }),
    async onSuccess(refund) {
      setAsked(undefined)
      setText('')
      setReason('')
      toast(
        refund.status === 'requested'
          ? t('Pedido feito. Vamos analisar e avisar por e-mail.')
          : t('Pedido feito. O dinheiro já está a caminho.'),
      )
      // The balance changed, and with it the data of other pages.
      await queries.invalidateQueries()
    },
  })

  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const amount = parseAmount(text)
    const found = faultOf(amount, available)
    setFault(found)
    if (found !== undefined || amount === undefined) return amountField.current?.focus()
    const trimmed = reason.trim()
    setAsked({ amount, ...(trimmed === '' ? {} : { reason: trimmed }) })
  }

  return (
    <>
      <form onSubmit={submit} noValidate className="grid gap-4">
        <Field
          label={t('Quanto você quer de volta?')}
          error={fault}
          hint={t('Até {refundableBrl}.', { refundableBrl: brl(available.refundable_brl) })}
        >
          {(control) => (
            <AmountInput
              {...control}
              ref={amountField}
              value={text}
              onChange={(event) => {
                setText(event.target.value)
                setFault(undefined)
              }}
            />
          )}
        </Field>
        <div className="flex flex-wrap gap-2">
          <Button
            variant="secondary"
            onClick={() => setText(typedAmount(available.refundable_brl))}
          >
            <Trans
              id="Tudo: {refundableBrl}"
              values={{ refundableBrl: brl(available.refundable_brl) }}
            />
          </Button>
        </div>
        <Field label={t('Motivo (opcional)')} hint={t('Ajuda a gente a melhorar.')}>
          {(control) => (
            <Input
              {...control}
              maxLength={500}
              value={reason}
              onChange={(event) => setReason(event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" className="justify-self-start">
          {t('Pedir reembolso')}
        </Button>
      </form>
      <ConfirmDialog
        isOpen={asked !== undefined}
        onClose={() => {
          setAsked(undefined)
          request.reset()
        }}
        onConfirm={() => asked && request.mutate(asked)}
        title={t('Pedir {brl} de volta?', { brl: brl(asked?.amount ?? 0) })}
        confirmText={t('Pedir reembolso')}
        variant="primary"
        isBusy={request.isPending}
        error={request.error ? explain(request.error) : undefined}
      >
        <p className="text-sm">
          {t(
            'O valor sai do seu saldo agora. Se o saldo acabar, suas chaves param até a próxima recarga.',
          )}
        </p>
      </ConfirmDialog>
    </>
  )
}

/** Checks what the page can know; the API decides. */
function faultOf(amount: number | undefined, available: Available): string | undefined {
  const { refundable_brl, withdrawable_brl, minimum_brl } = available
  if (amount === undefined || amount === 0) return t('Digite um valor em reais, como 50 ou 49,90.')
  if (amount > refundable_brl)
    return t('Só {refundableBrl} podem ser reembolsados agora.', {
      refundableBrl: brl(refundable_brl),
    })
  if (amount > withdrawable_brl && amount < minimum_brl)
    return t('Depois dos 7 dias, o mínimo é {minimumBrl}.', { minimumBrl: brl(minimum_brl) })
  return undefined
}

function explain(error: unknown): string {
  const { code, details = '' } = error instanceof ApiError ? error : { code: '' }
  const limit = /(\d+(?:\.\d+)?)/.exec(details)?.[1]
  if (code === 'amount_not_refundable' && limit !== undefined)
    return t('Seu saldo mudou: agora só {limit} podem ser reembolsados. Ajuste o valor.', {
      limit: brl(Number(limit)),
    })
  if (code === 'refund_below_minimum' && limit !== undefined)
    return t('Parte do valor já passou dos 7 dias, e aí o mínimo é {limit}.', {
      limit: brl(Number(limit)),
    })
  return explainError(error)
}

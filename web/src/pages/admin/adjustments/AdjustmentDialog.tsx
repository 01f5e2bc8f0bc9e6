import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { Button } from '../../../components/Button.tsx'
import { Dialog } from '../../../components/Dialog.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { brl } from '../../../format/brl.ts'
import type { CustomerDetail } from '../customers/customer-queries.ts'
import { useAct } from '../use-act.ts'
import { AdjustmentForm } from './AdjustmentForm.tsx'
import { approvalAboveQuery, type AdjustmentInput } from './adjustment-queries.ts'
import { effectWords, KIND_WORDS } from './adjustment-words.ts'

interface Props {
  readonly customer: CustomerDetail
  readonly isOpen: boolean
  readonly onClose: () => void
}

/** Written first, then said back in full, then done. */
export function AdjustmentDialog({ customer, isOpen, onClose }: Props) {
  const [written, setWritten] = useState<AdjustmentInput>()
  const [isAsking, setAsking] = useState(false)
  const close = (): void => {
    setWritten(undefined)
    setAsking(false)
    onClose()
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={close}
      title={isAsking ? 'Confirmar o ajuste' : `Ajuste no saldo de ${customer.name}`}
    >
      {written && isAsking ? (
        <Confirmation
          customer={customer}
          input={written}
          onBack={() => setAsking(false)}
          onDone={close}
        />
      ) : (
        <AdjustmentForm
          customerId={customer.id}
          written={written}
          onCancel={close}
          onWritten={(input) => {
            setWritten(input)
            setAsking(true)
          }}
        />
      )}
    </Dialog>
  )
}

function Confirmation(props: {
  readonly customer: CustomerDetail
  readonly input: AdjustmentInput
  readonly onBack: () => void
  readonly onDone: () => void
}) {
  const { customer, input, onBack, onDone } = props
  const { kind, amount_brl: amount, reason, reference } = input
  const above = useQuery(approvalAboveQuery).data
  const effect = useRef<HTMLParagraphElement>(null)
  // The button that led here is gone: readers and the keyboard go on at what it says.
  useEffect(() => effect.current?.focus(), [])
  const isForTwo = above !== undefined && amount > above
  const request = useAct({
    act: () => api.post('/admin/adjustments', input),
    told: ({ status }) =>
      status === 'posted'
        ? `${KIND_WORDS[kind]} de ${brl(amount)} lançado.`
        : `Pedido de ${brl(amount)} feito: espera a aprovação de outro operador.`,
    onDone,
  })
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!request.isPending) request.mutate()
      }}
    >
      <p ref={effect} tabIndex={-1} className="font-semibold outline-none">
        {effectWords(kind, amount, customer.name)}
      </p>
      <Notice tone={isForTwo ? 'warning' : 'info'}>{whenWords(amount, above)}</Notice>
      <dl className="grid gap-2 text-sm">
        <Fact name="Livre agora" value={brl(customer.balance.available_brl)} />
        <Fact name="Motivo" value={reason} />
        <Fact name="Referência" value={reference ?? ''} />
      </dl>
      {request.error && (
        <Notice tone="danger" role="alert">
          {explainError(request.error)}
        </Notice>
      )}
      <div className="flex flex-col-reverse gap-3 sm:flex-row sm:justify-end">
        <Button variant="secondary" onClick={onBack}>
          Voltar
        </Button>
        <Button
          type="submit"
          variant={kind === 'debit' ? 'danger' : 'primary'}
          isBusy={request.isPending}
        >
          {isForTwo ? 'Pedir aprovação de' : VERBS[kind]} {brl(amount)}
        </Button>
      </div>
    </form>
  )
}

/** `above`: the limit, where it is known by now. */
function whenWords(amount: number, above: number | undefined): string {
  if (above === undefined)
    return 'Até o limite é lançado na hora; acima dele outro operador precisa aprovar.'
  return amount > above
    ? `Acima de ${brl(above)} outro operador precisa aprovar. Até lá, nada muda no saldo.`
    : 'É lançado na hora. Para desfazer, só com outro ajuste no sentido contrário.'
}

const VERBS = { credit: 'Creditar', debit: 'Debitar', promotional_credit: 'Creditar' } as const

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 text-right break-words">{value}</dd>
    </div>
  )
}

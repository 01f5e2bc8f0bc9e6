import { useQuery } from '@tanstack/react-query'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { FormEnd } from '../../../components/FormEnd.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { brl } from '../../../format/brl.ts'
import type { CustomerDetail } from '../customers/customer-queries.ts'
import { useFirstFocus } from '../../../lib/use-first-focus.ts'
import { ConfirmedFormDialog } from '../ConfirmedFormDialog.tsx'
import { useAct } from '../use-act.ts'
import { AdjustmentForm } from './AdjustmentForm.tsx'
import { approvalAboveQuery, type AdjustmentInput } from './adjustment-queries.ts'
import { effectWords, KIND_WORDS } from './adjustment-words.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

interface Props {
  readonly customer: CustomerDetail
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function AdjustmentDialog({ customer, isOpen, onClose }: Props) {
  return (
    <ConfirmedFormDialog<AdjustmentInput>
      isOpen={isOpen}
      onClose={onClose}
      title={t('Ajuste no saldo de {name}', { name: customer.name })}
      confirmationTitle={t('Confirmar o ajuste')}
      renderForm={(form) => <AdjustmentForm customerId={customer.id} {...form} />}
      renderConfirmation={(asked) => <Confirmation customer={customer} {...asked} />}
    />
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
  const effect = useFirstFocus<HTMLParagraphElement>()
  const isForTwo = above !== undefined && amount > above
  const request = useAct({
    act: () => api.post('/admin/adjustments', input),
    doneText: ({ status }) =>
      status === 'posted'
        ? t('{kindWords} de {amount} lançado.', {
            kindWords: KIND_WORDS()[kind],
            amount: brl(amount),
          })
        : t('Pedido de {amount} feito: espera a aprovação de outro operador.', {
            amount: brl(amount),
          }),
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
        <Fact name={t('Livre agora')} value={brl(customer.balance.available_brl)} />
        <Fact name={t('Motivo')} value={reason} />
        <Fact name={t('Referência')} value={reference ?? ''} />
      </dl>
      <FormEnd
        error={request.error ? explainError(request.error) : undefined}
        submitLabel={`${isForTwo ? t('Pedir aprovação de') : VERBS()[kind]} ${brl(amount)}`}
        variant={kind === 'debit' ? 'danger' : 'primary'}
        isBusy={request.isPending}
        cancelLabel={t('Voltar')}
        onCancel={onBack}
      />
    </form>
  )
}

/** `above`: the limit above which a second operator must approve; undefined while it loads. */
function whenWords(amount: number, above: number | undefined): string {
  if (above === undefined)
    return t('Até o limite é lançado na hora; acima dele outro operador precisa aprovar.')
  return amount > above
    ? t('Acima de {above} outro operador precisa aprovar. Até lá, nada muda no saldo.', {
        above: brl(above),
      })
    : t('É lançado na hora. Para desfazer, só com outro ajuste no sentido contrário.')
}

const VERBS = perLanguage(
  () =>
    ({ credit: t('Creditar'), debit: t('Debitar'), promotional_credit: t('Creditar') }) as const,
)

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div className="flex justify-between gap-4">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0 text-right break-words">{value}</dd>
    </div>
  )
}

import { ReasonField } from './ReasonField.tsx'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../../api/client.ts'
import { explainError } from '../../../api/explain-error.ts'
import { sessionQuery } from '../../../api/session.ts'
import { Button } from '../../../components/Button.tsx'
import { Card } from '../../../components/Card.tsx'
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { dateTime } from '../../../format/date.ts'
import { t } from '../../../language/t.ts'
import { useAct } from '../use-act.ts'
import type { CustomerDetail } from './customer-queries.ts'
import { lineOf } from './line-of.ts'

/** Whether the customer has a second factor, and its reset by two operators. */
export function SecondFactor({ customer }: { readonly customer: CustomerDetail }) {
  const { is_on: isOn, reset } = customer.second_factor
  const { data: session } = useQuery(sessionQuery)
  const [isOpen, setOpen] = useState(false)
  const isOwn = reset?.requested_by === session?.customer.id
  const canAsk = isOn && session?.operator_role === 'admin' && (reset === null || !isOwn)
  return (
    <Card
      title={t('Verificação em duas etapas')}
      description={isOn ? t('Ligada, com códigos de um aplicativo.') : t('Desligada.')}
    >
      <div className="grid justify-items-start gap-4">
        {reset && (
          <Notice tone="warning">
            {t('{name} pediu em {when} que seja desligada: “{reason}”', {
              name: reset.requested_by_name ?? t('Um operador'),
              when: dateTime(reset.requested_at),
              reason: reset.reason,
            })}{' '}
            {isOwn && t('Outro operador precisa confirmar, em até 24 horas.')}
          </Notice>
        )}
        {canAsk && (
          <Button variant="secondary" onClick={() => setOpen(true)}>
            {reset ? t('Confirmar o pedido') : t('Pedir para desligar')}
          </Button>
        )}
      </div>
      <ResetDialog customer={customer} isOpen={isOpen} onClose={() => setOpen(false)} />
    </Card>
  )
}

function ResetDialog(props: {
  readonly customer: CustomerDetail
  readonly isOpen: boolean
  readonly onClose: () => void
}) {
  const { customer, isOpen, onClose } = props
  const { id, name, second_factor: factor } = customer
  const [reason, setReason] = useState('')
  const [fault, setFault] = useState<string>()
  const act = useAct({
    act: () =>
      api.post(
        '/admin/customers/{id}/second-factor/reset',
        { reason: lineOf(reason) },
        { path: { id } },
      ),
    doneText: ({ second_factor: now }) =>
      now === 'off'
        ? t('A verificação em duas etapas de {name} está desligada.', { name })
        : t('Pedido feito: outro operador precisa confirmar.'),
    onDone() {
      setReason('')
      onClose()
    },
  })
  const confirm = (): void => {
    const isMissing = lineOf(reason).length < 3
    setFault(isMissing ? t('Escreva o motivo, com ao menos 3 letras.') : undefined)
    if (!isMissing) act.mutate()
  }
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={confirm}
      title={t('Desligar a verificação em duas etapas de {name}?', { name })}
      confirmText={factor.reset ? t('Desligar') : t('Pedir para desligar')}
      variant="danger"
      isBusy={act.isPending}
      error={act.error ? explainError(act.error) : undefined}
    >
      <p className="text-sm text-muted">
        {factor.reset
          ? t(
              'Confira por outro meio que é mesmo o cliente quem pede. Todas as sessões dele terminam, e para entrar basta a senha ou um link por e-mail. Ele é avisado por e-mail.',
            )
          : t(
              'Confira por outro meio que é mesmo o cliente quem pede. Nada muda até que outro operador confirme, em até 24 horas. O cliente é avisado por e-mail já agora.',
            )}
      </p>
      <ReasonField
        hint={t('Como você conferiu quem pede. Só operadores leem.')}
        fault={fault}
        maxLength={500}
        reason={reason}
        onChange={setReason}
      />
    </ConfirmDialog>
  )
}

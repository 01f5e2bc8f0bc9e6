import { useState } from 'react'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { Disclosure } from '../../../components/Disclosure.tsx'
import { Money } from '../../../components/Money.tsx'
import { brl } from '../../../format/brl.ts'
import { counted } from '../../../format/number.ts'
import { PART_STATUS, REFUND_STATUS } from '../../refunds/refund-words.ts'
import { PersonLink } from '../PersonLink.tsx'
import type { OperatedRefund } from './admin-refund-queries.ts'
import { RefundActDialog } from './RefundActDialog.tsx'
import type { RefundAct } from './refund-act-words.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function AdminRefundEntry({ refund }: { readonly refund: OperatedRefund }) {
  const [act, setAct] = useState<RefundAct>()
  const { text, tone } = REFUND_STATUS()[refund.status]
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <div className="min-w-0">
          <p className="font-semibold">
            <Money amount={refund.amount_brl} />
            <span className="font-normal text-muted">
              {' '}
              · {refund.kind === 'withdrawal' ? t('desistência em 7 dias') : t('pedido do cliente')}
            </span>
          </p>
          <p className="text-sm">
            <PersonLink id={refund.customer_id} name={refund.customer_name} />
            <span className="text-muted">
              {' '}
              · <DateTime instant={refund.created_at} />
            </span>
          </p>
        </div>
        <Badge tone={tone}>{text}</Badge>
      </div>
      {refund.reason !== null && (
        <p className="text-sm break-words">
          <Trans id="O cliente escreveu: “{reason}”" values={{ reason: refund.reason }} />
        </p>
      )}
      {refund.decision_note !== null && (
        <p className="text-sm break-words text-muted">
          <Trans
            id="Resposta ao cliente: {decisionNote}"
            values={{ decisionNote: refund.decision_note }}
          />
        </p>
      )}
      {refund.errors.length > 0 && (
        <p className="text-sm break-words text-danger">
          <Trans id="O processador disse: {errors}" values={{ errors: refund.errors.join('; ') }} />
        </p>
      )}
      <Acts refund={refund} onAct={setAct} />
      {refund.parts.length > 0 && <Parts refund={refund} />}
      <RefundActDialog refund={refund} act={act} onClose={() => setAct(undefined)} />
    </li>
  )
}

function Acts({
  refund,
  onAct,
}: {
  readonly refund: OperatedRefund
  readonly onAct: (act: RefundAct) => void
}) {
  const what = t('o reembolso de {amountBrl} de {customerName}', {
    amountBrl: brl(refund.amount_brl),
    customerName: refund.customer_name ?? t('cliente'),
  })
  if (refund.status === 'requested')
    return (
      <div className="flex flex-wrap gap-3">
        <Button aria-label={t('Aprovar {what}', { what })} onClick={() => onAct('approve')}>
          {t('Aprovar')}
        </Button>
        <Button
          variant="secondary"
          aria-label={t('Recusar {what}', { what })}
          onClick={() => onAct('reject')}
        >
          {t('Recusar')}
        </Button>
      </div>
    )
  const isUnderWay = refund.status === 'approved' || refund.status === 'processing'
  if (!isUnderWay || refund.manual_parts.length === 0) return null
  return (
    <div className="grid gap-2 rounded-lg bg-warning-soft p-4">
      <p className="text-sm font-medium text-warning">
        <Trans
          id="O processador não devolve {manualParts}: transfira à mão e diga aqui o que houve."
          values={{
            manualParts: refund.manual_parts
              .map(({ amount_brl: amount }) => brl(amount))
              .join(' + '),
          }}
        />
      </p>
      <div className="flex flex-wrap gap-3">
        <Button
          aria-label={t('Já transferi {what}', { what })}
          onClick={() => onAct('transferred')}
        >
          {t('Já transferi')}
        </Button>
        <Button
          variant="secondary"
          aria-label={t('Não deu para transferir {what}', { what })}
          onClick={() => onAct('not_transferred')}
        >
          {t('Não deu para transferir')}
        </Button>
      </div>
    </div>
  )
}

function Parts({ refund: { parts, manual_parts } }: { readonly refund: OperatedRefund }) {
  const byHand = new Set(manual_parts.map(({ topup_id: id }) => id))
  return (
    <Disclosure
      summary={t('De {parts}', { parts: counted(parts.length, t('recarga'), t('recargas')) })}
    >
      <ul className="grid gap-2 pt-2">
        {parts.map((part) => (
          <li key={part.topup_id} className="flex flex-wrap justify-between gap-x-4">
            <code className="text-xs break-all text-muted">{part.topup_id}</code>
            <span>
              <Money amount={part.amount_brl} /> ·{' '}
              {byHand.has(part.topup_id) ? t('à mão') : PART_STATUS()[part.status]}
            </span>
          </li>
        ))}
      </ul>
    </Disclosure>
  )
}

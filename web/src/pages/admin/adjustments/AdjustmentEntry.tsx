import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '../../../api/session.ts'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { PersonLink } from '../PersonLink.tsx'
import type { Adjustment } from './adjustment-queries.ts'
import { KIND_WORDS, signedBrl, STATUS_WORDS } from './adjustment-words.ts'
import { DecisionDialog, type AdjustmentDecision } from './DecisionDialog.tsx'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

interface Props {
  readonly adjustment: Adjustment
  /** False in a list of a single customer's adjustments. */
  readonly isWithCustomer: boolean
}

export function AdjustmentEntry({ adjustment, isWithCustomer }: Props) {
  const [decision, setDecision] = useState<AdjustmentDecision>()
  const { kind, status, reason, reference, created_at, customer_id, customer_name } = adjustment
  const { text, tone } = STATUS_WORDS()[status]
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <div className="min-w-0">
          <p className="font-semibold tabular-nums">
            {signedBrl(adjustment)}
            <span className="font-normal text-muted"> · {KIND_WORDS()[kind]}</span>
          </p>
          {isWithCustomer && (
            <p className="text-sm">
              <PersonLink id={customer_id} name={customer_name} />
            </p>
          )}
        </div>
        <Badge tone={tone}>{text}</Badge>
      </div>
      <p className="text-sm break-words">{reason}</p>
      <p className="text-sm text-muted">
        {t('Pedido por ')}
        <Operator id={adjustment.requested_by} name={adjustment.requested_by_name} />,{' '}
        <DateTime instant={created_at} /> · <span className="break-all">{reference}</span>
      </p>
      {adjustment.decided_by !== null && adjustment.decided_at !== null && (
        <p className="text-sm text-muted">
          <Trans
            id="{word} por"
            values={{ word: status === 'posted' ? t('Aprovado') : t('Recusado') }}
          />{' '}
          <Operator id={adjustment.decided_by} name={adjustment.decided_by_name} />,{' '}
          <DateTime instant={adjustment.decided_at} />
        </p>
      )}
      {status === 'pending' && <Deciding adjustment={adjustment} onDecide={setDecision} />}
      <DecisionDialog
        adjustment={adjustment}
        decision={decision}
        onClose={() => setDecision(undefined)}
      />
    </li>
  )
}

function Deciding({
  adjustment,
  onDecide,
}: {
  readonly adjustment: Adjustment
  readonly onDecide: (decision: AdjustmentDecision) => void
}) {
  const own = useQuery(sessionQuery).data?.customer.id
  const what = t('{adjustment} de {customerName}', {
    adjustment: signedBrl(adjustment),
    customerName: adjustment.customer_name ?? t('cliente'),
  })
  if (adjustment.requested_by === own)
    return (
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="text-sm text-muted">{t('Você pediu: outro operador precisa aprovar.')}</p>
        <Button
          variant="secondary"
          aria-label={t('Retirar pedido de {what}', { what })}
          onClick={() => onDecide('withdraw')}
        >
          {t('Retirar pedido')}
        </Button>
      </div>
    )
  return (
    <div className="flex flex-wrap gap-3">
      <Button aria-label={t('Aprovar {what}', { what })} onClick={() => onDecide('approve')}>
        {t('Aprovar')}
      </Button>
      <Button
        variant="secondary"
        aria-label={t('Recusar {what}', { what })}
        onClick={() => onDecide('reject')}
      >
        {t('Recusar')}
      </Button>
    </div>
  )
}

function Operator({ id, name }: { readonly id: string; readonly name: string | null }) {
  const own = useQuery(sessionQuery).data?.customer.id
  return id === own ? t('você') : <PersonLink id={id} name={name} />
}

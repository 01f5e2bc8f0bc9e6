import { useQuery } from '@tanstack/react-query'
import { Badge } from '../../components/Badge.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { Disclosure } from '../../components/Disclosure.tsx'
import { Money } from '../../components/Money.tsx'
import { counted } from '../../format/number.ts'
import { topUpQuery } from '../top-ups/top-up-queries.ts'
import { methodText } from '../top-ups/top-up-words.ts'
import type { Refund } from './refund-queries.ts'
import { PART_STATUS, REFUND_MEANING, REFUND_STATUS } from './refund-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function RefundEntry({ refund }: { readonly refund: Refund }) {
  const { text, tone } = REFUND_STATUS()[refund.status]
  const meaning = refund.decision_note ?? REFUND_MEANING()[refund.status]
  const isPartly = refund.returned_brl > 0 && refund.returned_brl < refund.amount_brl
  return (
    <li className="py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <div className="min-w-0">
          <p className="font-medium">
            <Money amount={refund.amount_brl} />
          </p>
          <p className="text-sm text-muted">
            {refund.kind === 'withdrawal' ? t('Desistência em 7 dias') : t('Reembolso')} ·{' '}
            <DateTime instant={refund.created_at} />
          </p>
        </div>
        <Badge tone={tone}>{text}</Badge>
      </div>
      {meaning !== undefined && <p className="mt-1 text-sm text-muted">{meaning}</p>}
      {isPartly && (
        <p className="mt-1 text-sm text-muted">
          <Trans
            id="Já voltaram {money}."
            values={{ money: <Money amount={refund.returned_brl} /> }}
          />
        </p>
      )}
      {refund.reason !== null && (
        <p className="mt-1 text-sm break-words text-muted">
          <Trans id="Motivo: {reason}" values={{ reason: refund.reason }} />
        </p>
      )}
      <Parts parts={refund.parts} />
    </li>
  )
}

function Parts({ parts }: Pick<Refund, 'parts'>) {
  if (parts.length === 0) return null
  return (
    <Disclosure
      summary={t('De {parts}', { parts: counted(parts.length, t('recarga'), t('recargas')) })}
    >
      <ul className="mt-1 grid gap-1.5 border-l-2 border-line pl-4">
        {parts.map((part) => (
          <li key={part.topup_id}>
            <Money amount={part.amount_brl} className="font-medium" />{' '}
            <span className="text-muted">
              {t('da recarga ')}
              <TopUpName id={part.topup_id} />: {PART_STATUS()[part.status]}
            </span>
          </li>
        ))}
      </ul>
    </Disclosure>
  )
}

/** Names the top-up by its day and payment method, as the customer knows it. */
function TopUpName({ id }: { readonly id: string }) {
  const { data } = useQuery({ ...topUpQuery(id), staleTime: Infinity, refetchOnWindowFocus: false })
  if (!data) return <code>{id.slice(0, 8)}</code>
  return (
    <>
      <Trans
        id="de {dateTime} por {data}"
        values={{
          dateTime: <DateTime instant={data.paid_at ?? data.created_at} isDateOnly />,
          data: methodText(data),
        }}
      />
    </>
  )
}

import { useState } from 'react'
import { Badge } from '../../../components/Badge.tsx'
import { Button } from '../../../components/Button.tsx'
import { CopyIcon } from '../../../components/CopyIcon.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { shortDay } from '../../../format/date.ts'
import { percent } from '../../../format/number.ts'
import { amountsOf, DIFFERENCE_STATUS, DIFFERENCE_WORDS } from './difference-words.ts'
import { ExplainDialog } from './ExplainDialog.tsx'
import type { Difference } from './reconciliation-queries.ts'
import { t } from '../../../language/t.ts'
import { Trans } from '../../../language/Trans.tsx'

export function DifferenceEntry({ difference }: { readonly difference: Difference }) {
  const [isExplaining, setExplaining] = useState(false)
  const { text, hint } = DIFFERENCE_WORDS()[difference.kind]
  const status = DIFFERENCE_STATUS()[difference.status]
  return (
    <li className="grid gap-2 py-4 first:pt-0 last:pb-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-1">
        <div className="min-w-0">
          <h3 className="font-semibold">{text}</h3>
          <p className="text-sm text-muted">{hint}</p>
        </div>
        <Badge tone={status.tone}>{status.text}</Badge>
      </div>
      <Amounts difference={difference} />
      <Place difference={difference} />
      <p className="text-sm text-muted">
        <Trans
          id="Vista desde {dateTime}, por último em {dateTime2}"
          values={{
            dateTime: <DateTime instant={difference.first_seen_at} />,
            dateTime2: <DateTime instant={difference.last_seen_at} />,
          }}
        />
        {difference.resolved_at !== null && (
          <>
            <Trans
              id="; resolvida em {dateTime}"
              values={{ dateTime: <DateTime instant={difference.resolved_at} /> }}
            />
          </>
        )}
        .
      </p>
      {difference.explanation !== null && (
        <blockquote className="rounded-lg bg-sunken px-4 py-3 text-sm break-words whitespace-pre-wrap">
          {difference.explanation}
          {difference.explained_at !== null && (
            <footer className="mt-1 text-xs text-muted">
              {difference.explained_by === 'admin' ? t('No painel') : t('Na linha de comando')},{' '}
              <DateTime instant={difference.explained_at} />
            </footer>
          )}
        </blockquote>
      )}
      {difference.status !== 'gone' && (
        <div>
          <Button variant="secondary" onClick={() => setExplaining(true)}>
            {difference.status === 'open' ? t('Explicar') : t('Explicar de novo')}
          </Button>
        </div>
      )}
      <ExplainDialog
        difference={difference}
        isOpen={isExplaining}
        onClose={() => setExplaining(false)}
      />
    </li>
  )
}

function Amounts({ difference }: { readonly difference: Difference }) {
  const amounts = amountsOf(difference)
  if (!amounts) return null
  const { difference_percent: share } = difference
  return (
    <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm tabular-nums">
      {[
        [t('Nosso'), amounts.ours],
        [t('Deles'), amounts.theirs],
        [t('Diferença'), `${amounts.between}${share === null ? '' : ` (${percent(share)})`}`],
      ].map(([name, amount]) => (
        <div key={name} className="flex gap-1.5">
          <dt className="text-muted">{name}</dt>
          <dd className="font-medium">{amount}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Where an operator can look the discrepancy up. */
function Place({ difference }: { readonly difference: Difference }) {
  const { processor, processor_payment_id, topup_id, upstream, day } = difference
  const ids = [
    [t('pagamento'), processor_payment_id],
    [t('recarga'), topup_id],
  ].filter((each): each is [string, string] => each[1] !== null)
  return (
    <div className="flex flex-wrap items-center gap-x-4 text-sm text-muted">
      {upstream !== null && <span>{upstream}</span>}
      {day !== null && (
        <span>
          <Trans id="dia {day}" values={{ day: shortDay(day) }} />
        </span>
      )}
      {processor !== null && <span>{processor}</span>}
      {ids.map(([name, id]) => (
        <span key={name} className="inline-flex min-w-0 items-center gap-1">
          {name} <code className="text-xs break-all">{id}</code>
          <CopyIcon text={id} label={t('Copiar o id de {name}', { name })} />
        </span>
      ))}
    </div>
  )
}

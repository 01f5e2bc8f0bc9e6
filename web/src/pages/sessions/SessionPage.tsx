import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft, ChevronDown } from 'lucide-react'
import { useId, useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Badge } from '../../components/Badge.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { dateTime } from '../../format/date.ts'
import { duration } from '../../format/duration.ts'
import { counted } from '../../format/number.ts'
import { ChargeDetails } from '../usage/ChargeDetails.tsx'
import { ShareBill } from '../usage/ShareBill.tsx'
import { amount, tokensText } from '../usage/charge-words.ts'
import type { Charge } from '../usage/usage-queries.ts'
import { sessionQuery } from './session-queries.ts'
import { t } from '../../language/t.ts'

export function SessionPage() {
  const { id = '' } = useParams({ strict: false })
  const found = useInfiniteQuery(sessionQuery(id))
  const [first] = found.data?.pages ?? []
  const events = found.data?.pages.flatMap((page) => page.events) ?? []
  return (
    <>
      <Link
        to="/sessoes"
        className="mb-3 inline-flex min-h-11 items-center gap-2 text-sm font-medium text-muted hover:text-ink"
      >
        <ArrowLeft aria-hidden="true" className="size-4" />
        {t('Todas as sessões')}
      </Link>
      <PageTitle
        title={t('Sessão {id}', { id })}
        description={
          first &&
          t('{requestCount}, {totalBilledBrl} no total', {
            requestCount: counted(first.request_count, t('chamada'), t('chamadas')),
            totalBilledBrl: amount(first.total_billed_brl),
          })
        }
      />
      {found.isPending && (
        <Card>
          <SkeletonRows rows={6} label={t('Carregando a sessão')} />
        </Card>
      )}
      {!found.data && found.isError && (
        <Failure error={found.error} onRetry={() => void found.refetch()} />
      )}
      {found.data && (
        <Card title={t('Linha do tempo')}>
          <ol className="grid">
            {events.map((event, place) => (
              <TimelineEntry key={event.id} charge={event} before={events[place - 1]} />
            ))}
          </ol>
          <LoadMore query={found} />
          <div className="mt-4 grid">
            <ShareBill of={{ session_id: id }} />
          </div>
        </Card>
      )}
    </>
  )
}

function Failure({ error, onRetry }: { readonly error: Error; readonly onRetry: () => void }) {
  if (!(error instanceof ApiError) || error.status !== 404)
    return <ErrorState error={error} onRetry={onRetry} />
  return (
    <Card>
      <EmptyState
        title={t('Não há nenhuma sessão com este nome')}
        action={
          <Link to="/sessoes" className={buttonClass('secondary')}>
            {t('Ver todas as sessões')}
          </Link>
        }
      >
        {t('Confira o nome: maiúsculas e minúsculas contam.')}
      </EmptyState>
    </Card>
  )
}

/** Shows the time since the previous call. */
function TimelineEntry(props: { readonly charge: Charge; readonly before: Charge | undefined }) {
  const { charge, before } = props
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const gapMs = before && Date.parse(charge.created_at) - Date.parse(before.created_at)
  return (
    <li className="relative pb-2 pl-7 last:pb-0">
      <span
        aria-hidden="true"
        className="absolute top-6 bottom-[-1.5rem] left-[0.4375rem] w-px bg-line in-[li:last-child]:hidden"
      />
      <span
        aria-hidden="true"
        className="absolute top-4.5 left-0 size-[0.9375rem] rounded-full border-[3px] border-accent bg-surface"
      />
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
        className="grid min-h-12 w-full grid-cols-[minmax(0,1fr)_auto_auto] items-center gap-x-3 rounded-lg px-3 py-2 text-left text-sm hover:bg-sunken"
      >
        <span className="min-w-0">
          <span className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium wrap-anywhere">{charge.model_id}</span>
            {charge.usage_kind === 'estimated' && <Badge tone="warning">{t('estimada')}</Badge>}
          </span>
          <span className="block text-xs text-muted tabular-nums">
            {dateTime(charge.created_at)}
            {gapMs !== undefined && t(', {gapMs} depois', { gapMs: duration(gapMs) })} ·{' '}
            {tokensText(charge)}
          </span>
        </span>
        <span className="font-medium whitespace-nowrap tabular-nums">
          {amount(charge.cost_billed_brl)}
        </span>
        <ChevronDown
          aria-hidden="true"
          className={`size-4 text-muted transition-transform ${isOpen ? 'rotate-180' : ''}`}
        />
      </button>
      {isOpen && (
        <div id={id} className="my-2 rounded-lg bg-sunken/50 p-4">
          <ChargeDetails charge={charge} />
        </div>
      )}
    </li>
  )
}

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Route } from 'lucide-react'
import { useState } from 'react'
import { Card } from '../../components/Card.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { PeriodField } from '../../components/PeriodField.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { Table, type Column } from '../../components/Table.tsx'
import { duration } from '../../format/duration.ts'
import { counted, wholeNumber } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import { sessionsQuery, type Session } from './session-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

const WINDOWS = [7, 30, 90]
const HEADER = 'x-svc-session-id: pedido-4812'

export function SessionsPage() {
  const [days, setDays] = useState(30)
  return (
    <>
      <PageTitle
        title={t('Sessões')}
        description={t(
          'Chamadas da mesma tarefa: uma conversa, um pedido, o trabalho de um agente.',
        )}
        actions={<PeriodField className="w-44" days={days} windows={WINDOWS} onChange={setDays} />}
      />
      <SessionList key={days} days={days} />
    </>
  )
}

function SessionList({ days }: { readonly days: number }) {
  const found = useInfiniteQuery(sessionsQuery(days))
  if (found.isPending)
    return (
      <Card>
        <SkeletonRows rows={6} label={t('Carregando as sessões')} />
      </Card>
    )
  if (!found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />
  const sessions = found.data.pages.flatMap((page) => page.sessions)
  if (sessions.length === 0) return <NoSessions />
  return (
    <div className="grid gap-4">
      <Card>
        <Table
          caption={t('Sessões, as de uso mais recente primeiro')}
          columns={COLUMNS()}
          rows={sessions}
          rowKey={(session) => session.session_id}
        />
      </Card>
      <LoadMore query={found} />
    </div>
  )
}

const COLUMNS = perLanguage((): readonly Column<Session>[] => [
  {
    key: 'session',
    header: t('Sessão'),
    cell: (session) => (
      <>
        <Link
          to="/sessoes/$id"
          params={{ id: session.session_id }}
          className="inline-block min-h-6 font-medium break-all text-accent underline-offset-4 hover:underline"
        >
          {session.session_id}
        </Link>
        <span className="block text-xs text-muted">
          {counted(session.request_count, t('chamada'), t('chamadas'))},{' '}
          {duration(session.duration_ms)}
        </span>
        <span className="block text-xs text-muted md:hidden">
          <DateTime instant={session.last_request_at} />
        </span>
      </>
    ),
  },
  {
    key: 'models',
    header: t('Modelos'),
    isSecondary: true,
    cell: ({ models }) => <span className="text-muted">{models.join(', ')}</span>,
  },
  {
    key: 'tokens',
    header: t('Tokens'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ total_tokens }) => wholeNumber(total_tokens),
  },
  {
    key: 'last',
    header: t('Última chamada'),
    isSecondary: true,
    cell: ({ last_request_at }) => (
      <span className="text-muted">
        <DateTime instant={last_request_at} />
      </span>
    ),
  },
  {
    key: 'cost',
    header: t('Gasto'),
    isNumeric: true,
    cell: ({ total_billed_brl }) => (
      <span className="font-medium whitespace-nowrap">{amount(total_billed_brl)}</span>
    ),
  },
])

function NoSessions() {
  return (
    <Card>
      <EmptyState
        icon={<Route className="size-6" />}
        title={t('Nenhuma sessão neste período')}
        action={
          <div className="flex flex-wrap items-center justify-center gap-2">
            <code className="rounded-lg bg-sunken px-3 py-2 break-all">{HEADER}</code>
            <CopyButton text={HEADER} variant="quiet" />
          </div>
        }
      >
        {t(
          'Envie este cabeçalho, com um nome seu, nas chamadas da mesma tarefa: elas aparecem aqui como uma sessão, com o custo somado.',
        )}
      </EmptyState>
    </Card>
  )
}

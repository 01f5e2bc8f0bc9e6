import { useQuery } from '@tanstack/react-query'
import { Link, type LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, type Answer } from '../../../api/client.ts'
import { sessionQuery } from '../../../api/session.ts'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { Money } from '../../../components/Money.tsx'
import { Notice } from '../../../components/Notice.tsx'
import { PageTitle } from '../../../components/PageTitle.tsx'
import { Skeleton } from '../../../components/Skeleton.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { counted, percent, wholeNumber } from '../../../format/number.ts'
import { classNames } from '../../../lib/class-names.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { marginsQuery } from '../margins/margin-queries.ts'
import { windowOf } from '../margins/margin-periods.ts'
import { PersonLink } from '../PersonLink.tsx'
import { SERVICE } from '../use-act.ts'

type Overview = Answer<'get', '/admin/overview'>

const REFRESH_MS = 15_000
const COUNTED_MAX = 100

const overviewQuery = {
  queryKey: [...SERVICE, 'overview'],
  queryFn: ({ signal }: { signal: AbortSignal }) => api.get('/admin/overview', { signal }),
  refetchInterval: REFRESH_MS,
}

/** What an operator looks at first. Each figure leads to its page, and all follow the service by themselves. */
export function OverviewPage() {
  const { data: session } = useQuery(sessionQuery)
  const found = useQuery(overviewQuery)
  const isFinance = session?.operator_role === 'finance' || session?.operator_role === 'admin'
  return (
    <>
      <PageTitle
        title={t('Visão geral')}
        description={t('O que espera por você, o que falha e como vai o dia.')}
      />
      {found.data?.is_paused === true && (
        <div className="mb-5">
          <Notice tone="danger">
            {t('As chamadas de modelos estão pausadas para todos.')}{' '}
            <Link to="/admin/saude" className="underline underline-offset-4">
              {t('Abrir a saúde')}
            </Link>
          </Notice>
        </div>
      )}
      {found.isError && !found.data ? (
        <ErrorState error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          {isFinance && <Today />}
          <Duties overview={found.data} isFinance={isFinance} />
          {found.data && <Resets resets={found.data.waiting.second_factors} />}
          {found.data && <Upstreams upstreams={found.data.upstreams} />}
        </div>
      )}
    </>
  )
}

function Today() {
  const { data } = useQuery({ ...marginsQuery(windowOf('hoje')), refetchInterval: 60_000 })
  const totals = data?.totals
  return (
    <Tiles title={t('Hoje, no horário de Brasília')}>
      <Tile to="/admin/margens" name={t('Cobrado')}>
        {totals && <Money amount={totals.billed_brl} />}
      </Tile>
      <Tile to="/admin/margens" name={t('Margem')}>
        {totals && <Money amount={totals.margin_brl} />}
      </Tile>
      <Tile to="/admin/margens" name={t('Chamadas cobradas')}>
        {totals && wholeNumber(totals.requests)}
      </Tile>
      <Tile
        to="/admin/conciliacao"
        name={
          data ? counted(data.topups.count, t('recarga paga'), t('recargas pagas')) : t('Recargas')
        }
      >
        {data && <Money amount={data.topups.paid_brl} />}
      </Tile>
    </Tiles>
  )
}

function Duties(props: { readonly overview: Overview | undefined; readonly isFinance: boolean }) {
  const { overview: of, isFinance } = props
  return (
    <Tiles title={t('Para ver agora')}>
      <Count to="/admin/incidentes" name={t('Incidentes abertos')} count={of?.open_incidents} />
      {isFinance && (
        <Count to="/admin/ajustes" name={t('Ajustes a aprovar')} count={of?.waiting.adjustments} />
      )}
      <Count to="/admin/reembolsos" name={t('Reembolsos a decidir')} count={of?.waiting.refunds} />
      <Count to="/admin/modelos" name={t('Preços a aceitar')} count={of?.waiting.prices} />
      <Count to="/admin/entregas" name={t('Webhooks que falham')} count={of?.failing.webhooks} />
      <Count to="/admin/entregas" name={t('E-mails que falharam')} count={of?.failing.mails} />
      {isFinance && (
        <Count
          to="/admin/conciliacao"
          name={t('Diferenças sem explicação')}
          count={of?.open_differences}
        />
      )}
    </Tiles>
  )
}

function Tiles({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h2 className="mb-2 text-sm font-semibold text-muted">{title}</h2>
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">{children}</div>
    </section>
  )
}

/** More than nothing stands out. */
function Count(props: {
  readonly to: NonNullable<LinkProps['to']>
  readonly name: string
  readonly count: number | undefined
}) {
  const { to, name, count } = props
  return (
    <Tile to={to} name={name} isMarked={count !== undefined && count > 0}>
      {count !== undefined && (count >= COUNTED_MAX ? `${COUNTED_MAX}+` : wholeNumber(count))}
    </Tile>
  )
}

function Tile(props: {
  readonly to: NonNullable<LinkProps['to']>
  readonly name: string
  readonly isMarked?: boolean
  /** Nothing until it is known. */
  readonly children: ReactNode
}) {
  const { to, name, isMarked = false, children } = props
  return (
    <Link
      to={to}
      className="min-w-0 rounded-card border border-line bg-surface p-4 shadow-card hover:border-accent"
    >
      <span className="block text-sm text-muted">{name}</span>
      <span
        className={classNames(
          'mt-1 block h-8 text-xl font-semibold tracking-tight tabular-nums sm:text-2xl',
          isMarked && 'text-danger',
        )}
      >
        {children === undefined || children === false ? (
          <Skeleton className="h-6 w-16" />
        ) : (
          children
        )}
      </span>
    </Link>
  )
}

function Resets({ resets }: { readonly resets: Overview['waiting']['second_factors'] }) {
  if (resets.length === 0) return null
  return (
    <Card
      title={t('Pedidos de desligar a verificação em duas etapas')}
      description={t('Cada um espera que outro operador confirme, na ficha do cliente.')}
    >
      <ul className="divide-y divide-line text-sm">
        {resets.map(({ customer_id: id, requested_at: at }) => (
          <li key={id} className="flex flex-wrap justify-between gap-x-4 gap-y-1 py-2">
            <PersonLink id={id} name={null} />
            <span className="text-muted">
              <DateTime instant={at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const COLUMNS = perLanguage((): readonly Column<Overview['upstreams'][number]>[] => [
  {
    key: 'upstream',
    header: t('Provedor'),
    cell: ({ upstream }) => (
      <Link
        to="/admin/provedores"
        className="font-medium text-accent underline-offset-4 hover:underline"
      >
        {upstream}
      </Link>
    ),
  },
  {
    key: 'calls',
    header: t('Tentativas'),
    isNumeric: true,
    isSecondary: true,
    cell: ({ calls }) => wholeNumber(calls),
  },
  {
    key: 'failed',
    header: t('Falharam'),
    isNumeric: true,
    cell: ({ calls, failed }) => (
      <span className={failed > 0 ? 'font-medium text-danger' : undefined}>
        {wholeNumber(failed)} ({percent((failed / calls) * 100)})
      </span>
    ),
  },
])

function Upstreams({ upstreams }: { readonly upstreams: Overview['upstreams'] }) {
  return (
    <Card title={t('Provedores, nas últimas 24 horas')}>
      {upstreams.length === 0 ? (
        <EmptyState title={t('Nenhuma chamada')}>
          {t('As tentativas em cada provedor aparecem aqui.')}
        </EmptyState>
      ) : (
        <Table
          caption={t('Tentativas e falhas por provedor')}
          columns={COLUMNS()}
          rows={upstreams}
          rowKey={({ upstream }) => upstream}
        />
      )}
    </Card>
  )
}

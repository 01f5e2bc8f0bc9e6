import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { Disclosure } from '../../../components/Disclosure.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { duration } from '../../../format/duration.ts'
import { counted, wholeNumber } from '../../../format/number.ts'
import type { ThisNode } from './health-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

type Route = ThisNode['routes'][number]
type Timer = ThisNode['timers'][number]

interface Props {
  readonly node: ThisNode
  readonly at: string
}

/** The state in one process's memory; other nodes may differ. */
export function ThisNodeCard({ node, at }: Props) {
  const broken = node.routes.filter(({ breaker }) => breaker !== 'closed')
  const failing = node.timers.filter(({ failures_in_row: failures }) => failures > 0)
  return (
    <Card
      title={t('O nó que responde')}
      description={t('O que só ele sabe, e de si mesmo: outro nó pode ver diferente.')}
    >
      <dl className="grid gap-x-8 gap-y-3 text-sm grid-cols-2 sm:grid-cols-4">
        <Fact name={t('Chamadas em curso')} value={wholeNumber(node.running_calls)} />
        <Fact name={t('À espera do banco')} value={wholeNumber(node.ledger_waiting)} />
        <Fact name={t('Cobranças no disco')} value={wholeNumber(node.spool_length)} />
        <Fact
          name={t('No ar há')}
          value={duration(Math.max(0, Date.parse(at) - Date.parse(node.started_at)))}
        />
      </dl>
      <div className="mt-3 grid">
        <Disclosure
          isOpen={broken.length > 0}
          summary={t('Rotas: {routes}, {word}', {
            routes: counted(node.routes.length, t('rota'), t('rotas')),
            word:
              broken.length === 0
                ? t('nenhum disjuntor aberto')
                : t('{broken} com o disjuntor aberto', { broken: wholeNumber(broken.length) }),
          })}
        >
          <Table
            caption={t('Rotas deste nó')}
            rows={node.routes.toSorted((left, right) => rankOf(right) - rankOf(left))}
            rowKey={(route) => `${route.model_id} ${route.upstream} ${route.upstream_model}`}
            columns={ROUTE_COLUMNS()}
          />
        </Disclosure>
        <Disclosure
          isOpen={failing.length > 0}
          summary={t('Temporizadores: {timers}, {word}', {
            timers: wholeNumber(node.timers.length),
            word:
              failing.length === 0
                ? t('nenhum falhando')
                : t('{failing} falhando', { failing: wholeNumber(failing.length) }),
          })}
        >
          <Table
            caption={t('Temporizadores deste nó')}
            rows={node.timers}
            rowKey={({ name }) => name}
            columns={timerColumnsAt(at)}
          />
        </Disclosure>
      </div>
    </Card>
  )
}

function rankOf({ breaker, running }: Route): number {
  return { open: 2e9, half_open: 1e9, closed: 0 }[breaker] + running
}

const BREAKERS = perLanguage(
  () =>
    ({
      closed: { text: t('fechado'), tone: 'success' },
      half_open: { text: t('testando'), tone: 'warning' },
      open: { text: t('aberto'), tone: 'danger' },
    }) as const,
)

const ROUTE_COLUMNS = perLanguage((): readonly Column<Route>[] => [
  { key: 'model', header: t('Modelo'), cell: ({ model_id }) => model_id },
  { key: 'upstream', header: t('Provedor'), isSecondary: true, cell: ({ upstream }) => upstream },
  {
    key: 'breaker',
    header: t('Disjuntor'),
    cell: ({ breaker }) => (
      <Badge tone={BREAKERS()[breaker].tone}>{BREAKERS()[breaker].text}</Badge>
    ),
  },
  {
    key: 'running',
    header: t('Em curso'),
    isNumeric: true,
    cell: ({ running }) => wholeNumber(running),
  },
])

function timerColumnsAt(at: string): readonly Column<Timer>[] {
  const ago = (when: string | null): string =>
    when === null
      ? '–'
      : t('há {max}', { max: duration(Math.max(0, Date.parse(at) - Date.parse(when))) })
  return [
    { key: 'name', header: t('Relógio'), cell: ({ name }) => <code>{name}</code> },
    {
      key: 'every',
      header: t('A cada'),
      isNumeric: true,
      isSecondary: true,
      cell: ({ every_ms: every }) => duration(every),
    },
    {
      key: 'done',
      header: t('Rodou'),
      isNumeric: true,
      cell: ({ last_done_at: done }) => ago(done),
    },
    {
      key: 'failures',
      header: t('Falhas seguidas'),
      isNumeric: true,
      cell: ({ failures_in_row: failures }) =>
        failures > 0 ? <Badge tone="danger">{wholeNumber(failures)}</Badge> : '0',
    },
  ]
}

function Fact({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt className="text-muted">{name}</dt>
      <dd className="text-lg font-semibold tabular-nums">{value}</dd>
    </div>
  )
}

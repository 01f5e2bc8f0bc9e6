import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { Disclosure } from '../../../components/Disclosure.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { duration } from '../../../format/duration.ts'
import { counted, wholeNumber } from '../../../format/number.ts'
import type { ThisNode } from './health-queries.ts'

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
      title="O nó que responde"
      description="O que só ele sabe, e de si mesmo: outro nó pode ver diferente."
    >
      <dl className="grid gap-x-8 gap-y-3 text-sm grid-cols-2 sm:grid-cols-4">
        <Fact name="Chamadas em curso" value={wholeNumber(node.running_calls)} />
        <Fact name="À espera do banco" value={wholeNumber(node.ledger_waiting)} />
        <Fact name="Cobranças no disco" value={wholeNumber(node.spool_length)} />
        <Fact
          name="No ar há"
          value={duration(Math.max(0, Date.parse(at) - Date.parse(node.started_at)))}
        />
      </dl>
      <div className="mt-3 grid">
        <Disclosure
          isOpen={broken.length > 0}
          summary={`Rotas: ${counted(node.routes.length, 'rota', 'rotas')}, ${broken.length === 0 ? 'nenhum disjuntor aberto' : `${wholeNumber(broken.length)} com o disjuntor aberto`}`}
        >
          <Table
            caption="Rotas deste nó"
            rows={node.routes.toSorted((left, right) => rankOf(right) - rankOf(left))}
            rowKey={(route) => `${route.model_id} ${route.upstream} ${route.upstream_model}`}
            columns={ROUTE_COLUMNS}
          />
        </Disclosure>
        <Disclosure
          isOpen={failing.length > 0}
          summary={`Temporizadores: ${wholeNumber(node.timers.length)}, ${failing.length === 0 ? 'nenhum falhando' : `${wholeNumber(failing.length)} falhando`}`}
        >
          <Table
            caption="Temporizadores deste nó"
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

const BREAKERS = {
  closed: { text: 'fechado', tone: 'success' },
  half_open: { text: 'testando', tone: 'warning' },
  open: { text: 'aberto', tone: 'danger' },
} as const

const ROUTE_COLUMNS: readonly Column<Route>[] = [
  { key: 'model', header: 'Modelo', cell: ({ model_id }) => model_id },
  { key: 'upstream', header: 'Provedor', isSecondary: true, cell: ({ upstream }) => upstream },
  {
    key: 'breaker',
    header: 'Disjuntor',
    cell: ({ breaker }) => <Badge tone={BREAKERS[breaker].tone}>{BREAKERS[breaker].text}</Badge>,
  },
  {
    key: 'running',
    header: 'Em curso',
    isNumeric: true,
    cell: ({ running }) => wholeNumber(running),
  },
]

function timerColumnsAt(at: string): readonly Column<Timer>[] {
  const ago = (when: string | null): string =>
    when === null ? '–' : `há ${duration(Math.max(0, Date.parse(at) - Date.parse(when)))}`
  return [
    { key: 'name', header: 'Relógio', cell: ({ name }) => <code>{name}</code> },
    {
      key: 'every',
      header: 'A cada',
      isNumeric: true,
      isSecondary: true,
      cell: ({ every_ms: every }) => duration(every),
    },
    { key: 'done', header: 'Rodou', isNumeric: true, cell: ({ last_done_at: done }) => ago(done) },
    {
      key: 'failures',
      header: 'Falhas seguidas',
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

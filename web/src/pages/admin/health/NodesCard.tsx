import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { duration } from '../../../format/duration.ts'
import { counted, wholeNumber } from '../../../format/number.ts'
import type { Health } from './health-queries.ts'

type Node = Health['nodes'][number]

/** Nodes that stopped cleanly are counted only: with frequent deployments there are many. */
export function NodesCard({ nodes, at }: Pick<Health, 'nodes' | 'at'>) {
  const alive = nodes.filter(({ is_alive: isAlive }) => isAlive).length
  return (
    <Card
      title="Nós"
      description={`${counted(alive, 'vivo', 'vivos')}; e os que pararam no último dia.`}
    >
      <Table
        caption="Nós do serviço"
        rows={nodes}
        rowKey={({ id }) => id}
        columns={columnsAt(at)}
      />
    </Card>
  )
}

function columnsAt(at: string): readonly Column<Node>[] {
  return [
    {
      key: 'id',
      header: 'Nó',
      cell: ({ id, is_this: isThis, server_id: serverId, worker }) => (
        <span className="flex flex-wrap items-center gap-2">
          <code title={id}>…{id.slice(-12)}</code>
          {serverId !== null && worker !== null && (
            <span className="text-muted" title={`servidor ${serverId}`}>
              {worker === 0 ? 'processo principal' : `processo ${worker}`}
            </span>
          )}
          {isThis && <Badge tone="accent">este</Badge>}
        </span>
      ),
    },
    {
      key: 'version',
      header: 'Versão',
      isSecondary: true,
      cell: ({ version, build }) => <span title={build ?? undefined}>{version ?? '–'}</span>,
    },
    { key: 'state', header: 'Estado', cell: (node) => <State node={node} /> },
    {
      key: 'holds',
      header: 'Reservas',
      isNumeric: true,
      cell: ({ open_holds: open }) => wholeNumber(open),
    },
    {
      key: 'seen',
      header: 'Último sinal',
      isSecondary: true,
      cell: ({ last_heartbeat_at: seen }) =>
        `há ${duration(Math.max(0, Date.parse(at) - Date.parse(seen)))}`,
    },
    {
      key: 'started',
      header: 'Começou',
      isSecondary: true,
      cell: ({ started_at: started }) => <DateTime instant={started} />,
    },
  ]
}

function State({ node }: { readonly node: Node }) {
  if (node.is_alive) return <Badge tone="success">vivo</Badge>
  return node.stopped_at === null ? (
    <Badge tone="danger">sem sinal</Badge>
  ) : (
    <Badge>encerrado</Badge>
  )
}

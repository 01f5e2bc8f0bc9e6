import { Badge } from '../../../components/Badge.tsx'
import { Card } from '../../../components/Card.tsx'
import { DateTime } from '../../../components/DateTime.tsx'
import { Table, type Column } from '../../../components/Table.tsx'
import { duration } from '../../../format/duration.ts'
import { counted, wholeNumber } from '../../../format/number.ts'
import type { Health } from './health-queries.ts'
import { t } from '../../../language/t.ts'

type Node = Health['nodes'][number]

/** Nodes that stopped cleanly are counted only: with frequent deployments there are many. */
export function NodesCard({ nodes, at }: Pick<Health, 'nodes' | 'at'>) {
  const alive = nodes.filter(({ is_alive: isAlive }) => isAlive).length
  return (
    <Card
      title={t('Nós')}
      description={t('{alive}; e os que pararam no último dia.', {
        alive: counted(alive, t('vivo'), t('vivos')),
      })}
    >
      <Table
        caption={t('Nós do serviço')}
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
      header: t('Nó'),
      cell: ({ id, is_this: isThis, server_id: serverId, worker }) => (
        <span className="flex flex-wrap items-center gap-2">
          <code title={id}>…{id.slice(-12)}</code>
          {serverId !== null && worker !== null && (
            <span className="text-muted" title={t('servidor {serverId}', { serverId })}>
              {worker === 0 ? t('processo principal') : t('processo {worker}', { worker })}
            </span>
          )}
          {isThis && <Badge tone="accent">{t('este')}</Badge>}
        </span>
      ),
    },
    {
      key: 'version',
      header: t('Versão'),
      isSecondary: true,
      cell: ({ version, build }) => <span title={build ?? undefined}>{version ?? '–'}</span>,
    },
    { key: 'state', header: t('Estado'), cell: (node) => <State node={node} /> },
    {
      key: 'holds',
      header: t('Reservas'),
      isNumeric: true,
      cell: ({ open_holds: open }) => wholeNumber(open),
    },
    {
      key: 'seen',
      header: t('Último sinal'),
      isSecondary: true,
      cell: ({ last_heartbeat_at: seen }) =>
        t('há {max}', { max: duration(Math.max(0, Date.parse(at) - Date.parse(seen))) }),
    },
    {
      key: 'started',
      header: t('Começou'),
      isSecondary: true,
      cell: ({ started_at: started }) => <DateTime instant={started} />,
    },
  ]
}

function State({ node }: { readonly node: Node }) {
  if (node.is_alive) return <Badge tone="success">{t('vivo')}</Badge>
  return node.stopped_at === null ? (
    <Badge tone="danger">{t('sem sinal')}</Badge>
  ) : (
    <Badge>{t('encerrado')}</Badge>
  )
}

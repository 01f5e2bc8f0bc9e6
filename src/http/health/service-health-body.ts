import Type from 'typebox'
import { QUEUES } from '../../platform/health/read-queues.ts'
import { answer, count, date, dateTime, nullable, uuid } from '../rest/values.ts'

const node = answer({
  id: uuid,
  is_this: Type.Boolean({ description: 'O nó que responde.' }),
  is_alive: Type.Boolean(),
  started_at: dateTime,
  last_heartbeat_at: dateTime,
  stopped_at: nullable(dateTime),
  open_holds: count,
  server_id: nullable({
    ...uuid,
    description: 'O mesmo para os processos de um servidor; null onde um só processo faz tudo.',
  }),
  worker: nullable({
    ...count,
    description: 'O número do processo; 0 é o principal, que não atende pedidos.',
  }),
  version: nullable(
    Type.String({ description: 'A versão do programa; null em nós de versões que não a diziam.' }),
  ),
  build: nullable(Type.String({ description: 'O commit, ou o nome que a imagem recebeu.' })),
})

const queue = answer({
  name: Type.Enum([...QUEUES]),
  waiting: { ...count, description: 'O que não está feito, também o que tem hora marcada.' },
  due: { ...count, description: 'O que já devia ser feito.' },
  oldest_due_at: nullable(dateTime),
})

const job = answer({
  name: Type.String(),
  cron: Type.String({ description: 'Em UTC.' }),
  waiting: count,
  active: count,
  failed: { ...count, description: 'Os que se deram por perdidos e ainda estão guardados.' },
  last_completed_at: nullable(dateTime),
  last_failed_at: nullable(dateTime),
})

const replica = answer({
  name: Type.String({ description: 'host:porta' }),
  is_read: Type.Boolean(),
  trouble: {
    ...nullable(Type.Enum(['starting', 'unreachable', 'behind', 'takes_writes', 'other_system'])),
    description:
      'Por que não é lida: starting, ainda não alcançou o início do nó; unreachable, não responde; behind, atrasada demais; takes_writes, não é réplica; other_system, é de outro banco.',
  },
  lag_seconds: {
    ...nullable(Type.Number({ minimum: 0 })),
    description: 'A idade dos dados; null enquanto não se sabe.',
  },
})

const thisNode = answer(
  {
    id: uuid,
    started_at: dateTime,
    running_calls: count,
    spool_length: { ...count, description: 'Cobranças no disco, à espera do banco de dados.' },
    ledger_waiting: count,
    routes: Type.Array(
      answer({
        model_id: Type.String(),
        upstream: Type.String(),
        upstream_model: Type.String(),
        breaker: Type.Enum(['closed', 'half_open', 'open']),
        running: count,
      }),
    ),
    timers: Type.Array(
      answer({
        name: Type.String(),
        every_ms: count,
        last_done_at: nullable(dateTime),
        last_failed_at: nullable(dateTime),
        failures_in_row: count,
      }),
    ),
  },
  { description: 'O que só o nó que responde sabe, e de si mesmo.' },
)

export const serviceHealth = answer({
  at: dateTime,
  nodes: Type.Array(node, {
    description: 'Os vivos, os vistos no último dia e os que deixaram reservas abertas.',
  }),
  pause: nullable(answer({ reason: Type.String(), since: dateTime })),
  holds: answer({ open: count, oldest_at: nullable(dateTime) }),
  queues: Type.Array(queue),
  jobs: Type.Array(job),
  database: answer({
    size_bytes: count,
    connections: count,
    connections_max: count,
    read_replicas: Type.Array(replica, {
      description: 'As réplicas de leitura, como as vê o nó que responde.',
    }),
  }),
  fx_rate: nullable(
    answer({
      rate: Type.Number({ description: 'BRL por USD.' }),
      rate_date: date,
      source: Type.String(),
      applied_from: nullable(dateTime),
      age_days: Type.Integer({ description: 'Dias desde a data da taxa.' }),
    }),
  ),
  reconciliation: answer({
    last_started_at: nullable(dateTime),
    last_finished_at: nullable(dateTime),
    last_failure: nullable(Type.String()),
    open_differences: count,
  }),
  this_node: thisNode,
})

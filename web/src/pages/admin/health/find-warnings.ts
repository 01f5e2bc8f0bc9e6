/** Derives the warnings for operators from the health report; empty when all is well. */
import { duration } from '../../../format/duration.ts'
import { counted } from '../../../format/number.ts'
import type { Health } from './health-queries.ts'
import { QUEUE_WORDS, REPLICA_WORDS } from './health-words.ts'
import { t } from '../../../language/t.ts'

/** Queues move within seconds; a call takes minutes at most. */
const QUEUE_LATE_MS = 5 * 60_000
/** For how long a node that stopped uncleanly is reported. */
const RECENT_MS = 60 * 60_000
const HOLD_LATE_MS = 15 * 60_000
/** A weekend with an adjoining holiday. */
const RATE_DAYS_MAX = 4
const CONNECTIONS_SHARE_MAX = 0.8
const FAILURES_MIN = 3

export function findWarnings(health: Health): string[] {
  const { nodes, queues, holds, jobs, database, fx_rate: rate, reconciliation } = health
  const { spool_length: spool, routes, timers } = health.this_node
  const age = (since: string | null): number =>
    since === null ? 0 : Date.parse(health.at) - Date.parse(since)
  const holdAge = age(holds.oldest_at)
  const dead = nodes.filter((node) => !node.is_alive && node.open_holds > 0)
  const silent = nodes.filter(
    (node) => !node.is_alive && node.stopped_at === null && age(node.last_heartbeat_at) < RECENT_MS,
  )
  const broken = new Set(
    routes.filter(({ breaker }) => breaker === 'open').map(({ upstream }) => upstream),
  )
  return [
    ...(health.pause === null
      ? []
      : [t('As chamadas de modelos estão pausadas: {reason}', { reason: health.pause.reason })]),
    ...(dead.length > 0
      ? [
          t('{dead} com reservas abertas.', {
            dead: counted(dead.length, t('nó parou'), t('nós pararam')),
          }),
        ]
      : []),
    ...(silent.length > 0
      ? [
          t('{silent} sem dar sinal na última hora.', {
            silent: counted(silent.length, t('nó ficou'), t('nós ficaram')),
          }),
        ]
      : []),
    ...(holdAge > HOLD_LATE_MS
      ? [t('Uma reserva está aberta há {holdAge}.', { holdAge: duration(holdAge) })]
      : []),
    ...queues
      .filter((queue) => age(queue.oldest_due_at) > QUEUE_LATE_MS)
      .map((queue) =>
        t('{queueWords}: atraso de {oldestDueAt}.', {
          queueWords: QUEUE_WORDS()[queue.name],
          oldestDueAt: duration(age(queue.oldest_due_at)),
        }),
      ),
    ...(spool > 0
      ? [
          t('{spool} no disco deste nó.', {
            spool: counted(spool, t('cobrança espera'), t('cobranças esperam')),
          }),
        ]
      : []),
    ...[...broken].map((upstream) =>
      t('O disjuntor de {upstream} está aberto neste nó.', { upstream }),
    ),
    ...jobs
      .filter(isJobFailing)
      .map(({ name }) => t('O trabalho {name} falhou na última vez.', { name })),
    ...timers
      .filter(({ failures_in_row: failures }) => failures >= FAILURES_MIN)
      .map((timer) =>
        t('O temporizador {name} falhou {failuresInRow} vezes seguidas.', {
          name: timer.name,
          failuresInRow: timer.failures_in_row,
        }),
      ),
    ...(database.connections > database.connections_max * CONNECTIONS_SHARE_MAX
      ? [t('O banco de dados está perto do limite de conexões.')]
      : []),
    ...database.read_replicas
      .filter(({ is_read: isRead }) => !isRead)
      .map(({ name, trouble }) =>
        t('A réplica {name} não está em uso: {words}.', {
          name,
          words: REPLICA_WORDS()[trouble ?? 'starting'],
        }),
      ),
    ...(rate === null ? [t('Não há câmbio: nenhuma chamada pode ser cobrada.')] : []),
    ...(rate !== null && rate.source !== 'sandbox' && rate.age_days > RATE_DAYS_MAX
      ? [t('O câmbio tem {ageDays}.', { ageDays: counted(rate.age_days, t('dia'), t('dias')) })]
      : []),
    ...(reconciliation.last_failure === null
      ? []
      : [
          t('A última conciliação falhou: {lastFailure}', {
            lastFailure: reconciliation.last_failure,
          }),
        ]),
    ...(reconciliation.open_differences > 0
      ? [
          t('{openDifferences} sem explicação na conciliação.', {
            openDifferences: counted(
              reconciliation.open_differences,
              t('diferença'),
              t('diferenças'),
            ),
          }),
        ]
      : []),
  ]
}

/** Judged by the last run that finished or was given up. */
export function isJobFailing(job: Health['jobs'][number]): boolean {
  return (
    job.last_failed_at !== null &&
    (job.last_completed_at === null || job.last_failed_at > job.last_completed_at)
  )
}

import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { ArchiveBusy, type EventArchive } from '../../platform/archive/event-archive.ts'
import type { CsvField } from '../../platform/lib/csv.ts'
import { toMilliseconds } from '../../platform/db/exact-time.ts'
import { lazily } from '../../platform/lib/lazily.ts'
import { decimalBrl, decimalE4, decimalUsd } from '../../platform/lib/money.ts'
import type { UsagePeriod } from '../../money/usage/find-usage-period.ts'
import {
  ArchiveNotConfigured,
  readUsage,
  type ReadUsageEvent,
} from '../../money/usage/read-usage.ts'
import { usageEvent, usageEventBody } from './usage-event.ts'
import { answer, count, date, dateTime } from '../rest/values.ts'
import type { Log } from '../../platform/lib/log.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { sendCsv, sendDownload } from '../rest/send-download.ts'
import { askedPeriod, periodQuery } from './usage-list-query.ts'

/** The most concurrent exports of one customer on one node. */
export const EXPORTS_MAX = 2

type Deps = Pick<HttpParts, 'db' | 'primary' | 'log' | 'exportSlots'> & {
  /** Where archived months are read; undefined if none is configured. */
  readonly archive: EventArchive | undefined
}

const RETRY_AFTER_SECONDS = 10

const common = {
  method: 'GET',
  tag: 'Uso',
  access: 'account',
  readsFrom: 'replica',
  query: periodQuery,
  refusals: { 429: ['too_many_exports'] },
} as const

/**
 * The export of every charge of a period. It is streamed: the load on memory and database does not depend on the number
 * of charges.
 */
export const usageExportRoutes = [
  restRoute({
    ...common,
    path: '/usage/export.csv',
    summary: 'Todas as cobranças de um período, em CSV',
    answer: 'text/csv',
    handle: ({ caller: { customerId }, query, reply }, deps: Deps) =>
      sendExport(deps, reply, customerId, query, (period, batches) =>
        sendCsv(reply, `${fileName(period)}.csv`, columnsOf(period), rowsOf(batches)),
      ),
  }),
  restRoute({
    ...common,
    path: '/usage/export.json',
    summary: 'Todas as cobranças de um período, em JSON',
    answer: answer({
      period: answer({
        from: date,
        to: date,
        timezone: Type.String(),
        from_at: dateTime,
        until_at: dateTime,
      }),
      total_events: count,
      events: Type.Array(usageEvent),
    }),
    handle: ({ caller: { customerId }, query, reply }, deps: Deps) =>
      sendExport(deps, reply, customerId, query, (period, batches) => {
        const file = { type: 'application/json; charset=utf-8', name: `${fileName(period)}.json` }
        return sendDownload(reply, file, jsonOf(period, batches))
      }),
  }),
]

async function sendExport(
  { db, primary, log, exportSlots, archive }: Deps,
  reply: FastifyReply,
  customerId: string,
  asked: { from?: string; to?: string },
  send: (period: UsagePeriod, batches: AsyncIterable<readonly ReadUsageEvent[]>) => Promise<void>,
): Promise<FastifyReply> {
  const held = exportSlots.take(customerId)
  if (typeof held === 'string') {
    reply.header('retry-after', RETRY_AFTER_SECONDS)
    throw new RestRefusal(429, 'too_many_exports', `no máximo ${EXPORTS_MAX} ao mesmo tempo`)
  }
  try {
    const period = await askedPeriod(primary, customerId, asked)
    const batches = readUsage(db, customerId, period, archive)
    await send(period, logged(log, reply.request.id, batches))
    return reply
  } catch (error) {
    if (error instanceof ArchiveNotConfigured)
      throw unavailable(
        'uma parte do período está arquivada, e este servidor não alcança o arquivo',
      )
    if (error instanceof ArchiveBusy)
      throw unavailable('uma parte do período está arquivada, e outros leem o arquivo agora')
    throw error
  } finally {
    held[Symbol.dispose]()
  }
}

function unavailable(details: string): RestRefusal {
  return new RestRefusal(503, 'service_unavailable', details, RETRY_AFTER_SECONDS)
}

/** A failure in the middle of an answer can only be logged. */
async function* logged<Batch>(
  log: Log,
  requestId: string,
  batches: AsyncIterable<Batch>,
): AsyncGenerator<Batch> {
  try {
    yield* batches
  } catch (error) {
    log.error('export_failed', { requestId, error })
    throw error
  }
}

function fileName({ from, to }: UsagePeriod): string {
  return `uso-${from}-a-${to}`
}

/** The number of events comes last, because it is known only after they are written. */
async function* jsonOf(
  { from, to, timezone, fromAt, untilAt }: UsagePeriod,
  batches: AsyncIterable<readonly ReadUsageEvent[]>,
): AsyncGenerator<Iterable<string>> {
  const bounds = { from_at: toMilliseconds(fromAt), until_at: toMilliseconds(untilAt) }
  yield [`{"period":${JSON.stringify({ from, to, timezone, ...bounds })},"events":[`]
  let total = 0
  for await (const batch of batches) {
    yield lazily(batch, (event) => {
      total++
      return `${total === 1 ? '\n' : ',\n'}${JSON.stringify(usageEventBody(event))}`
    })
  }
  yield [`\n],"total_events":${total}}\n`]
}

function columnsOf({ timezone }: UsagePeriod): string[] {
  return [
    `Data e hora (${timezone === 'America/Sao_Paulo' ? 'horário de Brasília' : timezone})`,
    'Data e hora (UTC)',
    'ID da cobrança',
    'ID da requisição',
    'Modelo',
    'ID da chave',
    'Nome da chave',
    'ID da equipe',
    'Sessão',
    'Tokens de entrada',
    'Tokens de entrada lidos do cache',
    'Tokens de entrada gravados no cache',
    'Tokens de saída',
    'Tokens de raciocínio',
    'Outras unidades',
    'Medição',
    'Custo do fabricante (USD)',
    'Câmbio (BRL por USD)',
    'Data do câmbio',
    'Fonte do câmbio',
    'Multiplicador',
    'Valor cobrado (BRL)',
    'Corrige a cobrança',
  ]
}

const USAGE_KINDS = { exact: 'exata', estimated: 'estimada', none: 'nenhuma' }

async function* rowsOf(
  batches: AsyncIterable<readonly ReadUsageEvent[]>,
): AsyncGenerator<Iterable<readonly CsvField[]>> {
  for await (const batch of batches) yield lazily(batch, rowOf)
}

function rowOf(event: ReadUsageEvent): readonly CsvField[] {
  return [
    event.localTime,
    toMilliseconds(event.createdAt),
    event.id,
    event.requestId,
    event.modelId,
    event.apiKeyId,
    event.apiKeyName,
    event.teamId,
    event.sessionId,
    event.promptTokens,
    event.cachedTokens,
    event.cacheWriteTokens,
    event.completionTokens,
    event.reasoningTokens,
    event.units && unitsText(event.units),
    USAGE_KINDS[event.usageKind],
    { decimal: decimalUsd(event.costUpstreamPicoUsd) },
    { decimal: decimalE4(event.fxRateE4) },
    event.fxRateDate.split('-').toReversed().join('/'),
    event.fxSource,
    { decimal: decimalE4(event.markupE4) },
    { decimal: decimalBrl(event.costBilledNanoBrl) },
    event.correctsId,
  ]
}

/** `images: 2, seconds: 30` */
function unitsText(units: Readonly<Record<string, number>>): string {
  return Object.entries(units)
    .map(([unit, used]) => `${unit}: ${used}`)
    .join(', ')
}

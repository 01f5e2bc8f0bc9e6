import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Type from 'typebox'
import { sql } from 'kysely'
import { findCustomer } from '../../customers/customers.ts'
import { limitAttempts, type Limit } from '../../platform/admission/attempts.ts'
import { decimalBrl, jsonBrl } from '../../platform/lib/money.ts'
import { deleteAccount } from '../../identity/personal-data/delete-account.ts'
import { eraseRemains } from '../../identity/personal-data/erase-remains.ts'
import {
  EXPORT_BOUNDS,
  exportAccount,
  type ExportDocument,
} from '../../identity/personal-data/export-account.ts'
import { actorOf } from '../rest/authenticate.ts'
import { accountExport } from './account-export.ts'
import { answer, brl, dateTime } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { whenClosed } from '../rest/leaving-client.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { refusalOfKey } from '../api-keys/make-api-key.ts'
import { restRoute } from '../rest/rest-route.ts'
import type { Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import { createId } from '../../platform/lib/ids.ts'

const TEMPLATE = 'exportacao_pronta'

/** Queues a mail about a copy of the account's data, at most about once a day: programs may fetch the copy often. */
async function mailExport(trx: Database, customerId: string): Promise<void> {
  const { rows } = await sql`
    select 1 from mails
    where customer_id = ${customerId} and template = ${TEMPLATE} and created_at > now() - interval '1 day'
    union all
    select 1 from notifications
    where customer_id = ${customerId} and template = ${TEMPLATE} and sent_at > now() - interval '1 day'
    limit 1`.execute(trx)
  if (rows.length > 0) return
  // A reference of its own: in a snapshot, a conflict with a mail of a concurrent copy would be an error.
  await queueMail(trx, {
    customerId,
    template: TEMPLATE,
    reference: createId(),
    data: { at: new Date().toISOString() },
  })
}

type Deps = Pick<HttpParts, 'db' | 'log' | 'keys' | 'exportSlots'>

/** The request begins to erase in batches for this long; a background job erases the rest. */
const ERASE_MS = 5_000
/** Entries of a list that become text at once: a large export must not block other requests. */
const SLICE = 200
/**
 * The most copies of one account in an hour. A copy can have 20 MB, takes the processor a second, and is in memory
 * until it is read.
 */
export const COPIES_AN_HOUR: Limit = { max: 20, seconds: 3_600 }
const RETRY_AFTER_SECONDS = 10

export const personalDataRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/export',
    tag: 'Conta',
    summary: 'Cópia de todos os dados da conta (LGPD)',
    access: 'account',
    answer: accountExport,
    refusals: { 429: ['too_many_exports'] },
    async handle({ caller, reply }, deps: Deps) {
      await takeCopy(deps, caller.customerId, reply)
      const document = await exportAccount(deps.db, actorOf(caller), {
        customerId: caller.customerId,
        bounds: EXPORT_BOUNDS,
        onExported: mailExport,
      })
      if (!document) return reply.code(401).send()
      return sendDocument(reply, document)
    },
  }),

  restRoute({
    method: 'DELETE',
    path: '/me',
    tag: 'Conta',
    summary: 'Exclui a conta, para sempre',
    access: 'within',
    body: Type.Object(
      {
        confirm: Type.String({
          maxLength: 400,
          description: 'O e-mail da conta; o nome, onde ela não tem e-mail.',
        }),
        waive_balance: Type.Optional(
          Type.Boolean({ description: 'Abre mão do saldo que resta, em vez de pedir reembolso.' }),
        ),
      },
      { additionalProperties: false },
    ),
    answer: answer(
      { deleted_at: dateTime, waived_brl: brl },
      {
        description:
          'Nome, e-mail, perfil, preferências, prompts, imagens, avisos e nomes de sessões são apagados. ' +
          'Ficam, só com números de identificação: cobranças, recargas e lançamentos (lei tributária, 5 anos) ' +
          'e o registro de acessos (Marco Civil da Internet, ao menos 6 meses).',
      },
    ),
    refusals: {
      403: ['beyond_own_key'],
      409: ['calls_running', 'refund_in_review', 'balance_remaining'],
    },
    async handle({ caller, body, reply }, deps: Deps) {
      const { customerId } = caller
      const customer = await findCustomer(deps.db, customerId)
      if (!customer || customer.deletedAt) return reply.code(401).send()
      if (body.confirm !== (customer.email ?? customer.name))
        throw new RestRefusal(
          400,
          'invalid_request',
          `confirm: deve ser o ${customer.email ? 'e-mail' : 'nome'} da conta`,
        )
      const outcome = await deleteAccount(deps.db, actorOf(caller), {
        customerId,
        waiveBalance: body.waive_balance ?? false,
      })
      switch (outcome.kind) {
        case 'calls_running':
          throw new RestRefusal(
            409,
            'calls_running',
            'há valor reservado por chamadas em andamento; tente de novo quando terminarem',
          )
        case 'refund_in_review':
          throw new RestRefusal(
            409,
            'refund_in_review',
            'um reembolso está em análise; exclua a conta depois da resposta',
          )
        case 'balance_remaining':
          throw new RestRefusal(
            409,
            'balance_remaining',
            `restam R$ ${decimalBrl(outcome.balanceNanoBrl).replace('.', ',')}: peça antes um reembolso, ou envie waive_balance`,
          )
        case 'deleted':
          // The other nodes are notified too; this request need not wait for that.
          for (const keyId of outcome.revokedKeyIds) deps.keys.forget(keyId)
          await beginErasing(deps, customerId)
          return {
            deleted_at: outcome.deletedAt.toISOString(),
            waived_brl: jsonBrl(outcome.waivedNanoBrl),
          }
        case 'already_deleted':
        case 'customer_not_found':
        case 'own_key_ended':
          return reply.code(401).send()
        default:
          throw refusalOfKey(outcome)
      }
    },
  }),
]

/** Throws a 429 for too many copies: at once, as with the other exports, or in an hour. */
async function takeCopy(
  { db, exportSlots }: Deps,
  customerId: string,
  reply: FastifyReply,
): Promise<void> {
  const held = exportSlots.take(customerId)
  if (typeof held === 'string')
    throw new RestRefusal(
      429,
      'too_many_exports',
      `no máximo ${exportSlots.ownMax} ao mesmo tempo`,
      RETRY_AFTER_SECONDS,
    )
  whenClosed(reply.raw, () => held[Symbol.dispose]())
  const wait = await limitAttempts(db, `copy of ${customerId}`, COPIES_AN_HOUR)
  if (wait !== undefined)
    throw new RestRefusal(
      429,
      'too_many_exports',
      `no máximo ${COPIES_AN_HOUR.max} cópias em uma hora`,
      wait,
    )
}

/** The account is already deleted: after a failure here the background job completes the erasure. */
async function beginErasing({ db, log }: Deps, customerId: string): Promise<void> {
  try {
    await eraseRemains(db, customerId, Date.now() + ERASE_MS)
  } catch (error) {
    log.warn('erasing_interrupted', { customerId, error })
  }
}

function sendDocument(reply: FastifyReply, document: ExportDocument): FastifyReply {
  return reply
    .type('application/json; charset=utf-8')
    .header('content-disposition', 'attachment; filename="catraca-dados-da-conta.json"')
    .header('cache-control', 'no-store')
    .send(Readable.from(chunksOf(document)))
}

async function* chunksOf(document: ExportDocument): AsyncGenerator<string> {
  let separator = '{'
  for (const [name, value] of Object.entries(document)) {
    yield `${separator}${JSON.stringify(name)}:`
    separator = ','
    if (Array.isArray(value)) yield* sliced(value)
    else yield JSON.stringify(value)
  }
  yield '}'
}

async function* sliced(list: readonly unknown[]): AsyncGenerator<string> {
  let separator = '['
  for (let start = 0; start < list.length; start += SLICE) {
    yield separator + JSON.stringify(list.slice(start, start + SLICE)).slice(1, -1)
    separator = ','
    await nextTurn()
  }
  yield list.length === 0 ? '[]' : ']'
}

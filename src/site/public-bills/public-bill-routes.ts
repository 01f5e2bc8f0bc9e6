/** Links by which customers show a bill to others: they create and delete them here. */
import Type from 'typebox'
import {
  createPublicBill,
  PUBLIC_BILLS_MAX,
  deletePublicBill,
  listPublicBills,
  type PublicBill,
} from '../../money/public-bills/public-bills.ts'
import { actorOf } from '../../http/rest/authenticate.ts'
import type { AnswerOf } from '../../http/rest/answer-of.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../../http/rest/cursor.ts'
import { originOf } from '../../http/rest/request-headers.ts'
import { RestRefusal } from '../../http/rest/rest-refusal.ts'
import { restRoute } from '../../http/rest/rest-route.ts'
import {
  answer,
  dateTime,
  nullable,
  storedText,
  uuid,
  wholeNumber,
} from '../../http/rest/values.ts'
import type { HttpParts } from '../../http/rest/parts.ts'

type Deps = Pick<HttpParts, 'config' | 'db'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const publicBill = answer({
  id: uuid,
  url: Type.String({ description: 'Quem tem este endereço lê a conta, sem entrar.' }),
  usage_event_id: nullable(uuid),
  session_id: nullable(Type.String()),
  created_at: dateTime,
})

function publicBillBody(bill: PublicBill, origin: string): AnswerOf<typeof publicBill> {
  return {
    id: bill.id,
    url: `${origin}/conta/${bill.token}`,
    usage_event_id: bill.usageEventId,
    session_id: bill.sessionId,
    created_at: bill.createdAt.toISOString(),
  }
}

export const publicBillRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/public-bills',
    tag: 'Uso',
    summary: 'As contas públicas, das mais novas para as mais antigas',
    access: 'account',
    query: { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor },
    answer: answer({ public_bills: Type.Array(publicBill), next_cursor: nextCursor }),
    async handle({ caller: { customerId }, query, request }, deps: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const before = readCursor(query.cursor)
      const bills = await listPublicBills(deps.db, customerId, { limit: limit + 1, before })
      const { page, next_cursor } = pageOf(bills, limit, ({ at, id }) => ({ at, id }))
      const origin = originOf(request, deps.config.publicUrl)
      return { public_bills: page.map((bill) => publicBillBody(bill, origin)), next_cursor }
    },
  }),

  restRoute({
    method: 'POST',
    path: '/me/public-bills',
    tag: 'Uso',
    summary: 'Cria o endereço público de uma cobrança ou de uma sessão; se já existe, o devolve',
    repeats: 'in_transaction',
    access: 'account',
    body: Type.Object(
      {
        usage_event_id: Type.Optional(uuid),
        session_id: Type.Optional(storedText(1, 80)),
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: publicBill,
    refusals: {
      404: ['usage_event_not_found', 'session_not_found'],
      409: ['too_many_public_bills'],
    },
    async handle({ caller, body, request }, deps: Deps) {
      const { usage_event_id: usageEventId, session_id: sessionId } = body
      if ((usageEventId === undefined) === (sessionId === undefined))
        throw new RestRefusal(400, 'invalid_request', 'usage_event_id ou session_id: um dos dois')
      const made = await createPublicBill(
        deps.db,
        actorOf(caller),
        caller.customerId,
        sessionId === undefined ? { usageEventId: usageEventId as string } : { sessionId },
      )
      if ('id' in made) return publicBillBody(made, originOf(request, deps.config.publicUrl))
      throw made.kind === 'too_many_public_bills'
        ? new RestRefusal(409, made.kind, `no máximo ${PUBLIC_BILLS_MAX}`)
        : new RestRefusal(404, made.kind, 'não existe, ou está em um mês arquivado')
    },
  }),

  restRoute({
    method: 'DELETE',
    path: '/me/public-bills/:id',
    tag: 'Uso',
    summary: 'Fecha o endereço público de uma conta',
    access: 'account',
    // Text that is not a UUID is the id of no bill: the answer is 404, not 400.
    params: { id: Type.String({ maxLength: 200 }) },
    answer: publicBill,
    refusals: { 404: ['public_bill_not_found'] },
    async handle({ caller, params, request }, deps: Deps) {
      const { customerId } = caller
      const gone = await deletePublicBill(deps.db, actorOf(caller), { customerId, id: params.id })
      if (!gone) throw new RestRefusal(404, 'public_bill_not_found')
      return publicBillBody(gone, originOf(request, deps.config.publicUrl))
    },
  }),
]

import Type from 'typebox'
import {
  ADJUSTMENT_KINDS,
  ADJUSTMENT_STATUSES,
  approveAdjustment,
  listAdjustments,
  rejectAdjustment,
  requestAdjustment,
  type Adjustment,
} from '../../money/ledger/adjustments.ts'
import { jsonBrl, NANO_PER_BRL, parseBrl, type NanoBrl } from '../../platform/lib/money.ts'
import { NANO_BRL_PER_CENTAVO } from '../../money/payments/top-ups.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { ownAccount } from '../rest/access.ts'
import { reason, answer, uuid, wholeNumber, brl, dateTime, nullable } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { findCustomerNames } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'

/** The schema of an adjustment, a credit or debit by hand. */
const name = nullable(Type.String())

const adjustmentAnswer = answer({
  id: uuid,
  customer_id: uuid,
  customer_name: name,
  kind: Type.Enum([...ADJUSTMENT_KINDS]),
  amount_brl: brl,
  reason: Type.String(),
  reference: Type.String(),
  status: Type.Enum([...ADJUSTMENT_STATUSES]),
  requested_by: uuid,
  requested_by_name: name,
  decided_by: nullable(uuid),
  decided_by_name: name,
  created_at: dateTime,
  decided_at: nullable(dateTime),
})

async function adjustmentBodies(
  db: Database,
  adjustments: readonly Adjustment[],
): Promise<AnswerOf<typeof adjustmentAnswer>[]> {
  const ids = adjustments.flatMap((each) => [each.customerId, each.requestedBy, each.decidedBy])
  const names = await findCustomerNames(db, ids)
  const nameOf = (id: string | null): string | null => names.get(id ?? '') ?? null
  return adjustments.map((each) => ({
    id: each.id,
    customer_id: each.customerId,
    customer_name: nameOf(each.customerId),
    kind: each.kind,
    amount_brl: jsonBrl(each.amountNanoBrl),
    reason: each.reason,
    reference: each.reference,
    status: each.status,
    requested_by: each.requestedBy,
    requested_by_name: nameOf(each.requestedBy),
    decided_by: each.decidedBy,
    decided_by_name: nameOf(each.decidedBy),
    created_at: each.createdAt.toISOString(),
    decided_at: each.decidedAt?.toISOString() ?? null,
  }))
}

async function adjustmentBody(
  db: Database,
  adjustment: Adjustment,
): Promise<AnswerOf<typeof adjustmentAnswer>> {
  const [body] = await adjustmentBodies(db, [adjustment])
  return body as AnswerOf<typeof adjustmentAnswer>
}

type Deps = Pick<HttpParts, 'config' | 'db'>

const AMOUNT_BRL_MAX = 1_000_000
const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
const REFERENCE = '^[\\x21-\\x7e]{1,100}$'

const input = Type.Object(
  {
    customer_id: uuid,
    kind: Type.Enum([...ADJUSTMENT_KINDS]),
    amount_brl: Type.Number({
      minimum: 0.01,
      maximum: AMOUNT_BRL_MAX,
      description: 'BRL, com até dois decimais.',
    }),
    reason,
    reference: Type.Optional(
      Type.String({
        maxLength: 100,
        pattern: REFERENCE,
        description:
          'Definida por você; uma requisição repetida com ela não lança de novo. Pode vir no cabeçalho idempotency-key.',
      }),
    ),
  },
  { additionalProperties: false },
)

const requesting = [
  restRoute({
    method: 'POST',
    path: '/admin/adjustments',
    tag: 'Administração',
    summary:
      'Credita ou debita à mão; acima do limite, também na soma de 24 horas, outra pessoa precisa aprovar',
    access: 'finance',
    body: input,
    status: 201,
    answer: adjustmentAnswer,
    refusals: {
      403: ['own_account'],
      404: ['customer_not_found'],
      409: ['reference_taken', 'short_balance'],
    },
    async handle({ caller, body, request }, deps: Deps) {
      const { customer_id: customerId, kind } = body
      // In the database's precision, so that a repeated request compares equal.
      const reason = body.reason.toWellFormed()
      const amountNanoBrl = readAmount(body.amount_brl)
      const reference = readReference(body.reference, request.headers['idempotency-key'])
      const approvalAboveNanoBrl = approvalAbove(deps)
      const terms = { requestedBy: caller.customerId, approvalAboveNanoBrl }
      const wanted = { customerId, kind, amountNanoBrl, reason, reference, ...terms }
      const outcome = await requestAdjustment(deps.db, actorOf(caller), wanted)
      if (outcome.kind === 'customer_not_found') throw new RestRefusal(404, outcome.kind)
      if (outcome.kind === 'own_account') throw ownAccount()
      if (outcome.kind === 'reference_taken')
        throw new RestRefusal(409, outcome.kind, 'reference: já foi usada em outro pedido')
      if (outcome.kind === 'short_balance') throw shortBalance()
      return adjustmentBody(deps.db, outcome.adjustment)
    },
  }),
]

const listing = [
  restRoute({
    method: 'GET',
    path: '/admin/adjustments',
    tag: 'Administração',
    summary: 'Os lançamentos à mão, os mais novos primeiro',
    access: 'finance',
    query: {
      status: Type.Optional(Type.Enum([...ADJUSTMENT_STATUSES])),
      customer_id: Type.Optional(uuid),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({
      adjustments: Type.Array(adjustmentAnswer),
      approval_above_brl: Type.Number({
        description:
          'BRL; acima disso, num lançamento ou na soma de 24 horas sem aprovação, um lançamento espera por outra pessoa.',
      }),
      next_cursor: nextCursor,
    }),
    async handle({ query }, deps: Deps) {
      const { status, customer_id: customerId, limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const found = await listAdjustments(deps.db, { status, customerId, after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, ({ exactCreatedAt, id }) => ({
        at: exactCreatedAt,
        id,
      }))
      return {
        adjustments: await adjustmentBodies(deps.db, page),
        approval_above_brl: jsonBrl(approvalAbove(deps)),
        next_cursor,
      }
    },
  }),
]

const params = { id: Type.String({ maxLength: 200 }) }

const deciding = [
  restRoute({
    method: 'POST',
    path: '/admin/adjustments/:id/approve',
    tag: 'Administração',
    summary: 'Aprova e lança; quem pediu não aprova',
    repeats: 'in_transaction',
    access: 'finance',
    params,
    answer: adjustmentAnswer,
    refusals: {
      403: ['second_admin_required', 'own_account'],
      404: ['adjustment_not_found'],
      409: ['adjustment_decided', 'customer_deleted', 'short_balance'],
    },
    handle: ({ caller, params }, deps: Deps) => decide(deps, caller, params.id, approveAdjustment),
  }),
  restRoute({
    method: 'POST',
    path: '/admin/adjustments/:id/reject',
    tag: 'Administração',
    summary: 'Recusa um lançamento que espera; nada é lançado',
    repeats: 'in_transaction',
    access: 'finance',
    params,
    answer: adjustmentAnswer,
    refusals: { 404: ['adjustment_not_found'], 409: ['adjustment_decided'] },
    handle: ({ caller, params }, deps: Deps) => decide(deps, caller, params.id, rejectAdjustment),
  }),
]

export const operatorAdjustmentRoutes = [...requesting, ...listing, ...deciding]

async function decide(
  deps: Deps,
  caller: Caller,
  id: string,
  act: typeof approveAdjustment | typeof rejectAdjustment,
): Promise<AnswerOf<typeof adjustmentAnswer>> {
  const outcome = await act(deps.db, actorOf(caller), { id, decidedBy: caller.customerId })
  switch (outcome.kind) {
    case 'decided':
      return adjustmentBody(deps.db, outcome.adjustment)
    case 'adjustment_not_found':
      throw new RestRefusal(404, outcome.kind)
    case 'second_admin_required':
      throw new RestRefusal(403, outcome.kind, 'quem pediu um ajuste não pode aprová-lo')
    case 'own_account':
      throw ownAccount()
    case 'short_balance':
      throw shortBalance()
    default:
      throw new RestRefusal(409, outcome.kind)
  }
}

function shortBalance(): RestRefusal {
  return new RestRefusal(409, 'short_balance', 'o saldo livre é menor: nada foi lançado')
}

/** Parses the number's shortest text: no floating-point arithmetic. */
function readAmount(given: number): NanoBrl {
  const amount = parseBrl(String(given))
  if (amount === undefined || amount % NANO_BRL_PER_CENTAVO !== 0n)
    throw new RestRefusal(
      400,
      'invalid_request',
      'amount_brl: deve ter no máximo duas casas decimais',
    )
  return amount
}

function readReference(field: string | undefined, header: string | string[] | undefined): string {
  if (typeof header === 'string' && !new RegExp(REFERENCE).test(header))
    throw new RestRefusal(
      400,
      'invalid_request',
      `idempotency-key: deve ter o formato ${REFERENCE}`,
    )
  const reference = field ?? header
  if (typeof reference !== 'string')
    throw new RestRefusal(
      400,
      'invalid_request',
      'reference: é obrigatória, aqui ou no cabeçalho idempotency-key',
    )
  if (header !== undefined && header !== reference)
    throw new RestRefusal(400, 'invalid_request', 'reference: é diferente de idempotency-key')
  return reference
}

/** A larger adjustment needs a second operator. */
function approvalAbove({ config }: Deps): NanoBrl {
  return BigInt(config.adminApprovalAboveBrl) * NANO_PER_BRL
}

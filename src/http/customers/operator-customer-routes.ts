import Type from 'typebox'
import { API_KEY_STATUSES, type ApiKeyStatus } from '../../customers/api-key-details.ts'
import {
  deleteNote,
  listNotes,
  writeNote,
  type CustomerNote,
} from '../../customers/customer-notes.ts'
import { findCustomer, findCustomerNames, type Customer } from '../../customers/customers.ts'
import {
  countKeysByStatus,
  listKeySummaries,
  type KeySummary,
} from '../../customers/key-summaries.ts'
import { findProfile, type Profile } from '../../customers/profiles.ts'
import {
  FOUND_BY,
  type FoundCustomer,
  viewCustomer,
  viewCustomers,
} from '../../customers/search-customers.ts'
import { findSuspension } from '../../customers/suspend-customer.ts'
import { findFactorState } from '../../identity/sign-in/reset-second-factor.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { kindOfTaxId, maskTaxId } from '../../platform/lib/tax-id.ts'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import { findAccount, type Account } from '../../money/ledger/entries.ts'
import { findPromotionalLeft } from '../../money/ledger/promotions.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { listTopUps, type TopUp } from '../../money/payments/top-ups.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import {
  operatorLine,
  answer,
  brl,
  count,
  dateTime,
  nullable,
  uuid,
  wholeNumber,
  suspension,
  suspensionBody,
} from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { customerUse, customerUseBody } from './customer-use.ts'

type Deps = Pick<HttpParts, 'db' | 'operatorRoles'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
const TOP_UPS_SHOWN = 10
const KEYS_SHOWN = 20
const NOTE_MAX = 2_000

const customer = {
  id: uuid,
  name: Type.String(),
  email: nullable(Type.String()),
  created_at: dateTime,
  deleted_at: nullable(dateTime),
}

const listing = [
  restRoute({
    method: 'GET',
    path: '/admin/customers',
    tag: 'Administração',
    summary: 'Os clientes, os mais novos primeiro',
    access: 'support',
    query: {
      q: Type.Optional(
        operatorLine(
          3,
          200,
          'O que se sabe do cliente: partes do nome ou do e-mail, o começo do id, do CPF ou do CNPJ (também mascarado), o fim de uma chave, ou o id inteiro de uma chamada, recarga, pagamento, reembolso ou chave.',
        ),
      ),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({
      customers: Type.Array(
        answer({
          ...customer,
          balance_brl: brl,
          last_used_at: nullable(dateTime),
          found_by: Type.Array(Type.Enum([...FOUND_BY]), {
            description: 'Por que apareceu na busca; vazio sem q.',
          }),
        }),
      ),
      next_cursor: nextCursor,
    }),
    async handle({ caller, query }, deps: Deps) {
      const { q, limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const search = { text: q?.trim(), after, limit }
      const found = await viewCustomers(deps.db, actorOf(caller), search)
      const { page, next_cursor } = pageOf(found, limit, ({ exactCreatedAt, id }) => ({
        at: exactCreatedAt,
        id,
      }))
      return { customers: page.map(listedBody), next_cursor }
    },
  }),
]

const detail = [
  restRoute({
    method: 'GET',
    path: '/admin/customers/:id',
    tag: 'Administração',
    summary: 'Um cliente; que foi visto fica no registro de auditoria',
    access: 'support',
    params: { id: Type.String({ maxLength: 200 }) },
    answer: answer({
      ...customer,
      timezone: Type.String(),
      profile: nullable(
        answer({
          full_name: Type.String(),
          cpf_cnpj: Type.String({ description: 'Mascarado.' }),
          kind: Type.Enum(['cpf', 'cnpj']),
          city: nullable(Type.String()),
          state: nullable(Type.String()),
        }),
      ),
      balance: answer({
        balance_brl: brl,
        held_brl: brl,
        available_brl: brl,
        promotional_brl: brl,
        credited_brl: brl,
        debited_brl: brl,
        charged_brl: brl,
      }),
      suspension: nullable(suspension),
      second_factor: answer({
        is_on: Type.Boolean({ description: 'Códigos de um aplicativo.' }),
        reset: nullable(
          answer(
            {
              requested_by: uuid,
              requested_by_name: nullable(Type.String()),
              requested_at: dateTime,
              reason: Type.String(),
            },
            { description: 'O pedido de um operador, que espera outro.' },
          ),
        ),
      }),
      keys: answer({ active: count, suspended: count, revoked: count, expired: count }),
      last_keys: Type.Array(
        answer({
          id: uuid,
          name: Type.String(),
          last_four: Type.String(),
          status: Type.Enum([...API_KEY_STATUSES]),
          paused_reason: nullable(Type.Enum(['anomaly', 'leaked', 'owner', 'operator'])),
          last_used_at: nullable(dateTime),
        }),
        { description: 'As usadas por último, sem as revogadas.' },
      ),
      last_topups: Type.Array(
        answer({
          id: uuid,
          amount_brl: brl,
          returned_brl: brl,
          method: Type.String(),
          status: Type.String(),
          created_at: dateTime,
          paid_at: nullable(dateTime),
        }),
      ),
      flags: answer({
        has_profile: Type.Boolean(),
        is_admin: Type.Boolean(),
        are_keys_suspended: Type.Boolean({ description: 'Por falta de saldo.' }),
        is_in_debt: Type.Boolean(),
      }),
      ...customerUse,
    }),
    refusals: { 404: ['customer_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      return inTransaction(deps.db, async (trx) => {
        const found = await viewCustomer(trx, actorOf(caller), params)
        if (!found) throw new RestRefusal(404, 'customer_not_found')
        return detailBody(trx, deps.operatorRoles, found)
      })
    },
  }),
]

const note = answer({
  id: uuid,
  note: Type.String(),
  written_by: uuid,
  written_by_name: nullable(Type.String()),
  created_at: dateTime,
})

const ofNotes = {
  path: '/admin/customers/:id/notes',
  tag: 'Administração',
  access: 'support',
  params: { id: Type.String({ maxLength: 200 }) },
  refusals: { 404: ['customer_not_found'] },
} as const

const notes = [
  restRoute({
    ...ofNotes,
    method: 'GET',
    summary: 'O que operadores anotaram sobre um cliente, o mais novo primeiro',
    query: { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor },
    answer: answer({ notes: Type.Array(note), next_cursor: nextCursor }),
    async handle({ params: { id }, query }, { db }: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      if (!isUuid(id) || !(await findCustomer(db, id)))
        throw new RestRefusal(404, 'customer_not_found')
      const found = await listNotes(db, { customerId: id, after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, (one) => ({
        at: one.exactCreatedAt,
        id: one.id,
      }))
      return { notes: await noteBodies(db, page), next_cursor }
    },
  }),
  restRoute({
    ...ofNotes,
    method: 'POST',
    summary: 'Anota algo sobre um cliente, que só operadores e a cópia dos dados dele mostram',
    repeats: 'in_transaction',
    body: Type.Object(
      {
        note: Type.String({
          minLength: 1,
          maxLength: NOTE_MAX,
          pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$',
          description: 'Em uma ou mais linhas.',
        }),
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: note,
    async handle({ caller, params, body }, { db }: Deps) {
      const text = body.note.toWellFormed().trim()
      const input = { customerId: params.id, writtenBy: caller.customerId, note: text }
      const written = await writeNote(db, actorOf(caller), input)
      if (!written) throw new RestRefusal(404, 'customer_not_found')
      const [shown] = await noteBodies(db, [written])
      return shown as AnswerOf<typeof note>
    },
  }),
  restRoute({
    method: 'DELETE',
    path: '/admin/customers/:id/notes/:noteId',
    tag: 'Administração',
    summary: 'Exclui uma anotação sobre um cliente',
    access: 'support',
    params: { id: Type.String({ maxLength: 200 }), noteId: Type.String({ maxLength: 200 }) },
    answer: answer({ id: uuid, deleted: Type.Literal(true) }),
    refusals: { 404: ['note_not_found'] },
    async handle({ caller, params: { id: customerId, noteId: id } }, { db }: Deps) {
      if (!(await deleteNote(db, actorOf(caller), { customerId, id })))
        throw new RestRefusal(404, 'note_not_found')
      return { id, deleted: true as const }
    },
  }),
]

async function noteBodies(
  db: Database,
  found: readonly CustomerNote[],
): Promise<AnswerOf<typeof note>[]> {
  const names = await findCustomerNames(
    db,
    found.map(({ writtenBy }) => writtenBy),
  )
  return found.map((one) => ({
    id: one.id,
    note: one.note,
    written_by: one.writtenBy,
    written_by_name: names.get(one.writtenBy) ?? null,
    created_at: one.createdAt.toISOString(),
  }))
}

export const operatorCustomerRoutes = [...listing, ...detail, ...notes]

async function detailBody(
  trx: Database,
  operatorRoles: HttpParts['operatorRoles'],
  found: Customer,
) {
  const { id, email } = found
  const profile = await findProfile(trx, id)
  const counts = await countKeysByStatus(trx, id)
  const keys = await listKeySummaries(trx, id)
  const topUps = await listTopUps(trx, id, TOP_UPS_SHOWN, undefined)
  const promotional = await findPromotionalLeft(trx, id)
  const account = (await findAccount(trx, id)) as Account
  const countKeys = (status: ApiKeyStatus): number => counts.get(status) ?? 0
  return {
    ...customerBody(found),
    timezone: found.timezone,
    profile: profile ? profileBody(profile) : null,
    balance: {
      balance_brl: jsonBrl(account.balanceNanoBrl),
      held_brl: jsonBrl(account.heldNanoBrl),
      available_brl: jsonBrl(account.balanceNanoBrl - account.heldNanoBrl),
      promotional_brl: jsonBrl(promotional),
      credited_brl: jsonBrl(account.creditedNanoBrl),
      debited_brl: jsonBrl(account.debitedNanoBrl),
      charged_brl: jsonBrl(account.chargedNanoBrl),
    },
    suspension: suspensionBody(await findSuspension(trx, id)),
    second_factor: await factorBody(trx, id),
    keys: {
      active: countKeys('active'),
      suspended: countKeys('suspended'),
      revoked: countKeys('revoked'),
      expired: countKeys('expired'),
    },
    last_keys: lastUsed(keys).map(keyBody),
    last_topups: topUps.map(topUpBody),
    flags: {
      has_profile: profile !== undefined,
      is_admin: email !== null && operatorRoles.has(email.toLowerCase()),
      are_keys_suspended: account.balanceNanoBrl <= 0n,
      is_in_debt: account.balanceNanoBrl < 0n,
    },
    ...(await customerUseBody(trx, id)),
  }
}

async function factorBody(trx: Database, id: string) {
  const { isOn, reset } = await findFactorState(trx, id)
  if (!reset) return { is_on: isOn, reset: null }
  const names = await findCustomerNames(trx, [reset.requestedBy])
  return {
    is_on: isOn,
    reset: {
      requested_by: reset.requestedBy,
      requested_by_name: names.get(reset.requestedBy) ?? null,
      requested_at: reset.requestedAt.toISOString(),
      reason: reset.reason,
    },
  }
}

function listedBody(found: FoundCustomer) {
  return {
    ...customerBody(found),
    balance_brl: jsonBrl(found.balanceNanoBrl),
    last_used_at: found.lastUsedAt?.toISOString() ?? null,
    found_by: [...found.foundBy],
  }
}

function customerBody(found: Pick<Customer, 'id' | 'name' | 'email' | 'createdAt' | 'deletedAt'>) {
  return {
    id: found.id,
    name: found.name,
    email: found.email,
    created_at: found.createdAt.toISOString(),
    deleted_at: found.deletedAt?.toISOString() ?? null,
  }
}

function profileBody(profile: Profile) {
  return {
    full_name: profile.full_name,
    cpf_cnpj: maskTaxId(profile.tax_id),
    // Only a checked CPF or CNPJ is stored.
    kind: kindOfTaxId(profile.tax_id) as 'cpf' | 'cnpj',
    city: profile.city,
    state: profile.state,
  }
}

function lastUsed(keys: readonly KeySummary[]): KeySummary[] {
  const usedMs = ({ lastUsedAt }: KeySummary): number => lastUsedAt?.getTime() ?? 0
  return keys.toSorted((one, other) => usedMs(other) - usedMs(one)).slice(0, KEYS_SHOWN)
}

function keyBody({ id, name, lastFour, status, pausedReason, lastUsedAt }: KeySummary) {
  return {
    id,
    name,
    last_four: lastFour,
    status,
    paused_reason: pausedReason,
    last_used_at: lastUsedAt?.toISOString() ?? null,
  }
}

function topUpBody(topUp: TopUp) {
  return {
    id: topUp.id,
    amount_brl: jsonBrl(topUp.amountNanoBrl),
    returned_brl: jsonBrl(topUp.returnedNanoBrl),
    method: topUp.method,
    status: topUp.status,
    created_at: topUp.createdAt.toISOString(),
    paid_at: topUp.paidAt?.toISOString() ?? null,
  }
}

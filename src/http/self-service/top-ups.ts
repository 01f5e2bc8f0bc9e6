import type { FastifyInstance } from 'fastify'
import Type from 'typebox'
import { audited } from '../../audit-log/audited.ts'
import { findCustomer } from '../../customers/customers.ts'
import { findProfile, type Profile } from '../../customers/profiles.ts'
import { jsonBrl, NANO_PER_BRL, parseBrl, type NanoBrl } from '../../lib/money.ts'
import { createTopUp } from '../../payments/create-top-up.ts'
import type { PayerDetails } from '../../payments/processor.ts'
import { findTopUp, listTopUps, NANO_BRL_PER_CENTAVO, type TopUp } from '../../payments/top-ups.ts'
import { actorOf } from '../authenticate.ts'
import { answer, brl, dateTime, nullable, uuid, wholeNumber } from '../contract/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../cursor.ts'
import type { HttpDeps } from '../http-deps.ts'
import { addRestRoute } from '../rest-route.ts'
import { RestRefusal } from '../rest-refusal.ts'

const AMOUNT_BRL_MAX = 5_000

const topUp = answer({
  id: uuid,
  amount_brl: brl,
  method: Type.Enum(['pix', 'boleto']),
  status: Type.Enum(['pending', 'paid', 'expired', 'canceled', 'failed', 'chargeback']),
  pix: nullable(
    answer({
      payload: Type.String({ description: 'Copia e cola.' }),
      qr_code_base64: Type.String({ description: 'A imagem do QR Code, um PNG.' }),
      expires_at: nullable(dateTime),
    }),
  ),
  boleto: nullable(answer({ url: Type.String(), line: Type.String() })),
  page_url: nullable(Type.String({ description: 'A página do processador, onde também se paga.' })),
  returned_brl: Type.Number({ description: 'BRL que voltaram a quem pagou.' }),
  created_at: dateTime,
  paid_at: nullable(dateTime),
})

export function addTopUps(server: FastifyInstance, deps: HttpDeps): void {
  addCreateTopUp(server, deps)

  addRestRoute(server, deps, {
    method: 'GET',
    path: '/topups',
    tag: 'Recargas',
    summary: 'As recargas, as mais novas primeiro',
    access: 'customer',
    query: { limit: wholeNumber(1, 200, 50), cursor },
    answer: answer({ topups: Type.Array(topUp), next_cursor: nextCursor }),
    async handle({ caller, query: { limit = 50, cursor } }) {
      const found = await listTopUps(deps.db, caller.customerId, limit + 1, readCursor(cursor))
      const { page, next_cursor } = pageOf(found, limit, ({ exactCreatedAt, id }) => ({
        at: exactCreatedAt,
        id,
      }))
      return { topups: page.map(topUpBody), next_cursor }
    },
  })

  addRestRoute(server, deps, {
    method: 'GET',
    path: '/topups/:id',
    tag: 'Recargas',
    summary: 'Uma recarga, e se ela já foi paga',
    access: 'customer',
    params: { id: Type.String() },
    answer: topUp,
    refusals: { 404: ['topup_not_found'] },
    async handle({ caller, params }) {
      const found = await findTopUp(deps.db, caller.customerId, params.id)
      if (!found) throw new RestRefusal(404, 'topup_not_found')
      return topUpBody(found)
    },
  })
}

function addCreateTopUp(server: FastifyInstance, deps: HttpDeps): void {
  const { db, payments } = deps
  addRestRoute(server, deps, {
    method: 'POST',
    path: '/topups',
    tag: 'Recargas',
    summary: 'Cria uma recarga por Pix ou boleto',
    access: 'customer',
    body: Type.Object(
      {
        amount: Type.Optional(
          Type.Unknown({
            description: `BRL, de ${payments.minimumBrl} a ${AMOUNT_BRL_MAX}, com até dois decimais.`,
          }),
        ),
        method: Type.Optional(Type.Enum(['pix', 'boleto'], { default: 'pix' })),
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: topUp,
    refusals: {
      400: [amountFault(payments.minimumBrl), 'cpf_required', 'email_required', 'payment_refused'],
      503: ['payment_processor_unavailable'],
    },
    async handle({ caller, body: { amount, method = 'pix' } }) {
      const amountNanoBrl = readAmount(amount, payments.minimumBrl)
      const { customerId } = caller
      const payer = await payerOf(deps, customerId)
      const created = payments.processor
        ? await createTopUp(db, payments.processor, {
            customerId,
            payer,
            amountNanoBrl,
            method,
          })
        : ({ kind: 'unavailable' } as const)
      if (created.kind === 'unavailable')
        throw new RestRefusal(503, 'payment_processor_unavailable', 'try again in a minute')
      if (created.kind === 'refused') throw new RestRefusal(400, 'payment_refused', created.detail)
      await audited(db, actorOf(caller), (_trx, record) =>
        record({ action: 'topup.created', customerId, subjectId: created.topUp.id }),
      )
      return topUpBody(created.topUp)
    },
  })
}

/** The specification's own words. */
function amountFault(minimumBrl: number): string {
  return `amount must be number between ${minimumBrl} and ${AMOUNT_BRL_MAX}`
}

/** By the number's own shortest text: no arithmetic of doubles. */
function readAmount(given: unknown, minimumBrl: number): NanoBrl {
  const amount = typeof given === 'number' ? parseBrl(String(given)) : undefined
  const isGood =
    amount !== undefined &&
    amount % NANO_BRL_PER_CENTAVO === 0n &&
    amount >= BigInt(minimumBrl) * NANO_PER_BRL &&
    amount <= BigInt(AMOUNT_BRL_MAX) * NANO_PER_BRL
  if (!isGood) throw new RestRefusal(400, amountFault(minimumBrl))
  return amount
}

async function payerOf({ db }: HttpDeps, customerId: string): Promise<PayerDetails> {
  const profile: Profile | undefined = await findProfile(db, customerId)
  if (!profile) throw new RestRefusal(400, 'cpf_required')
  const email = (await findCustomer(db, customerId))?.email
  if (!email) throw new RestRefusal(400, 'email_required')
  return {
    ourId: customerId,
    name: profile.full_name,
    taxId: profile.tax_id,
    email,
    phone: profile.phone ?? undefined,
    postalCode: profile.postal_code ?? undefined,
    address: profile.street ?? undefined,
    addressNumber: profile.street_number ?? undefined,
    complement: profile.complement ?? undefined,
    district: profile.district ?? undefined,
  }
}

function topUpBody(found: TopUp): object {
  return {
    id: found.id,
    amount_brl: jsonBrl(found.amountNanoBrl),
    method: found.method,
    status: found.status,
    pix: found.pix && {
      payload: found.pix.payload,
      qr_code_base64: found.pix.qrCodeBase64,
      expires_at: found.expiresAt?.toISOString() ?? null,
    },
    boleto: found.boleto,
    page_url: found.pageUrl,
    returned_brl: jsonBrl(found.returnedNanoBrl),
    created_at: found.createdAt.toISOString(),
    paid_at: found.paidAt?.toISOString() ?? null,
  }
}

import Type from 'typebox'
import { jsonBrl, NANO_PER_BRL, type NanoBrl } from '../../platform/lib/money.ts'
import {
  deleteAutomaticTopUp,
  findAutomaticTopUp,
  saveAutomaticTopUp,
  type AutomaticTopUp,
} from '../../money/payments/automatic-top-ups.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, brl, count, dateTime, nullable, uuid } from '../rest/values.ts'
import type { HttpConfig, HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import {
  AMOUNT_BRL_MAX,
  amountFault,
  payerOf,
  readAmount,
  readCentavos,
  refuseSuspended,
} from './top-up-body.ts'

type Deps = Pick<HttpParts, 'db'>

const MONTHLY_LIMIT_BRL_MAX = 1_000_000
const PATH = '/topups/automatic'
const NOT_FOUND = { 404: ['automatic_topup_not_found'] }

const automaticTopUp = answer({
  is_enabled: Type.Boolean(),
  threshold_brl: brl,
  amount_brl: brl,
  payment_method_id: nullable(uuid),
  monthly_limit_brl: nullable(brl),
  failures_in_row: count,
  disabled_reason: nullable(
    Type.Enum(['card_rejected', 'payment_method_deleted'], {
      description: 'Por que foi desativada sem que você pedisse.',
    }),
  ),
  updated_at: dateTime,
})

const amount = (description: string) => Type.Unsafe<unknown>({ description })

const saving = (minimumBrl: number) => [
  restRoute({
    method: 'PUT',
    path: PATH,
    tag: 'Recargas',
    summary: 'Define a recarga automática: quando o saldo fica menor, o cartão é cobrado',
    access: 'manage',
    body: Type.Object(
      {
        is_enabled: Type.Optional(Type.Boolean({ default: true })),
        threshold_brl: amount(`Abaixo deste saldo, BRL de 0 a ${AMOUNT_BRL_MAX}.`),
        amount_brl: amount(`O valor da recarga, BRL de ${minimumBrl} a ${AMOUNT_BRL_MAX}.`),
        payment_method_id: Type.String({ maxLength: 80 }),
        monthly_limit_brl: Type.Optional(
          amount('O máximo por mês, ao menos o valor de uma recarga; null: sem limite.'),
        ),
      },
      { additionalProperties: false },
    ),
    answer: automaticTopUp,
    refusals: {
      400: [amountFault(minimumBrl), 'cpf_required', 'email_required'],
      403: ['account_suspended'],
      404: ['payment_method_not_found'],
    },
    async handle({ caller, body }, deps: Deps) {
      const { customerId, ip: remoteIp } = caller
      const { is_enabled: isEnabled = true, payment_method_id: paymentMethodId } = body
      const amountNanoBrl = readAmount(body.amount_brl, minimumBrl)
      const thresholdNanoBrl = readThreshold(body.threshold_brl)
      const monthlyLimitNanoBrl = readLimit(body.monthly_limit_brl, amountNanoBrl)
      if (isEnabled) await refuseSuspended(deps, customerId)
      await payerOf(deps, customerId)
      const saved = await saveAutomaticTopUp(deps.db, actorOf(caller), {
        customerId,
        isEnabled,
        thresholdNanoBrl,
        amountNanoBrl,
        paymentMethodId,
        monthlyLimitNanoBrl,
        remoteIp,
      })
      if (!saved) throw new RestRefusal(404, 'payment_method_not_found')
      return automaticTopUpBody(saved)
    },
  }),
]

export const automaticTopUpRoutes = ({ topUpMinBrl }: Pick<HttpConfig, 'topUpMinBrl'>) => [
  ...saving(topUpMinBrl),

  restRoute({
    method: 'GET',
    path: PATH,
    tag: 'Recargas',
    summary: 'A recarga automática',
    access: 'account',
    answer: automaticTopUp,
    refusals: NOT_FOUND,
    async handle({ caller }, deps: Deps) {
      const found = await findAutomaticTopUp(deps.db, caller.customerId)
      if (!found) throw new RestRefusal(404, 'automatic_topup_not_found')
      return automaticTopUpBody(found)
    },
  }),

  restRoute({
    method: 'DELETE',
    path: PATH,
    tag: 'Recargas',
    summary: 'Exclui a recarga automática; a que já começou continua',
    access: 'manage',
    answer: automaticTopUp,
    refusals: NOT_FOUND,
    async handle({ caller }, deps: Deps) {
      const { customerId } = caller
      const deleted = await deleteAutomaticTopUp(deps.db, actorOf(caller), { customerId })
      if (!deleted) throw new RestRefusal(404, 'automatic_topup_not_found')
      return automaticTopUpBody(deleted)
    },
  }),
]

function readThreshold(given: unknown): NanoBrl {
  const threshold = readCentavos(given)
  if (threshold !== undefined && threshold <= BigInt(AMOUNT_BRL_MAX) * NANO_PER_BRL)
    return threshold
  throw invalid('threshold_brl', `deve ser um número de 0 a ${AMOUNT_BRL_MAX}`)
}

function readLimit(given: unknown, amountNanoBrl: NanoBrl): NanoBrl | null {
  if (given === undefined || given === null) return null
  const limit = readCentavos(given)
  const isGood =
    limit !== undefined &&
    limit >= amountNanoBrl &&
    limit <= BigInt(MONTHLY_LIMIT_BRL_MAX) * NANO_PER_BRL
  if (isGood) return limit
  throw invalid('monthly_limit_brl', `deve ser um número de amount_brl a ${MONTHLY_LIMIT_BRL_MAX}`)
}

function invalid(field: string, what: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', `${field}: ${what}, em centavos inteiros`)
}

function automaticTopUpBody(found: AutomaticTopUp): AnswerOf<typeof automaticTopUp> {
  const { monthlyLimitNanoBrl: limit } = found
  return {
    is_enabled: found.isEnabled,
    threshold_brl: jsonBrl(found.thresholdNanoBrl),
    amount_brl: jsonBrl(found.amountNanoBrl),
    payment_method_id: found.paymentMethodId,
    monthly_limit_brl: limit === null ? null : jsonBrl(limit),
    failures_in_row: found.failuresInRow,
    disabled_reason: found.disabledReason,
    updated_at: found.updatedAt.toISOString(),
  }
}

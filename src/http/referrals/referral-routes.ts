import Type from 'typebox'
import {
  ensureReferralCode,
  listReferred,
  sumReferrals,
  type Referred,
} from '../../customers/referrals.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { WITHDRAWAL_DAYS } from '../../money/payments/refunds/refundable.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, count, dateTime, nullable, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { ReferralProgramme } from '../../money/payments/referral-rewards/reward-due-referrals.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'config' | 'db'> & {
  readonly referrals: ReferralProgramme
}

const referred = answer({
  name: nullable(
    Type.String({ description: 'A primeira letra, e mais nada; null para contas excluídas.' }),
  ),
  status: Type.Enum(['registered', 'rewarded', 'taken_back'], {
    description: '`taken_back`: a recarga foi contestada ou devolvida, e a recompensa estornada.',
  }),
  registered_at: dateTime,
  rewarded_at: nullable(dateTime),
  reward_brl: nullable(brl),
  taken_back_brl: nullable({
    ...brl,
    description: 'O que foi debitado da recompensa; o resto já tinha sido gasto.',
  }),
})

export const referralRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/referrals',
    tag: 'Conta',
    summary: 'O código de indicação, e quem criou a conta com ele',
    access: 'account',
    query: { limit: wholeNumber(1, 200, 50), cursor },
    answer: answer({
      referral_code: Type.String(),
      share_text: nullable(
        Type.String({ description: 'null onde o serviço não tem endereço público.' }),
      ),
      reward_rule: answer({
        reward_brl: { ...brl, description: 'Em crédito promocional; 0: não há recompensa.' },
        withdrawal_days: {
          ...count,
          description: 'Idade da primeira recarga, sem devolução nem contestação.',
        },
        spending_min_brl: { ...brl, description: 'O que a pessoa já gastou do que pagou.' },
      }),
      referred_users: Type.Array(referred),
      next_cursor: nextCursor,
      statistics: answer({
        registered: { ...count, description: 'Todas as pessoas indicadas.' },
        rewarded: { ...count, description: 'Com recompensa que não foi estornada.' },
        total_reward_brl: { ...brl, description: 'Sem o que foi estornado.' },
      }),
    }),
    async handle({ caller, query: { limit = 50, cursor } }, deps: Deps) {
      const { customerId } = caller
      const after = readCursor(cursor)
      const code = await ensureReferralCode(deps.db, customerId)
      const found = await listReferred(deps.db, customerId, { after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, (entry) => ({
        at: entry.exactRegisteredAt,
        id: entry.customerId,
      }))
      const sums = await sumReferrals(deps.db, customerId)
      return {
        referral_code: code,
        share_text: shareText(deps.config.publicUrl, code),
        reward_rule: {
          reward_brl: jsonBrl(deps.referrals.rewardNanoBrl),
          withdrawal_days: WITHDRAWAL_DAYS,
          spending_min_brl: jsonBrl(deps.referrals.spendingMinNanoBrl),
        },
        referred_users: page.map(referredBody),
        next_cursor,
        statistics: {
          registered: sums.registered,
          rewarded: sums.rewarded,
          total_reward_brl: jsonBrl(sums.rewardNanoBrl),
        },
      }
    },
  }),
]

function shareText(publicUrl: string | undefined, code: string): string | null {
  if (publicUrl === undefined) return null
  return `Conheça a Catraca: ${publicUrl}/cadastrar?indicacao=${code} (meu código de indicação: ${code})`
}

function referredBody(person: Referred): AnswerOf<typeof referred> {
  const { firstLetter, rewardedAt, rewardNanoBrl, isTakenBack } = person
  return {
    name: firstLetter === undefined ? null : `${firstLetter}•••`,
    status: isTakenBack ? 'taken_back' : rewardedAt ? 'rewarded' : 'registered',
    registered_at: person.registeredAt.toISOString(),
    rewarded_at: rewardedAt?.toISOString() ?? null,
    reward_brl: rewardNanoBrl === null ? null : jsonBrl(rewardNanoBrl),
    taken_back_brl: isTakenBack ? jsonBrl(person.takenBackNanoBrl) : null,
  }
}

import Type from 'typebox'
import { countKeysByStatus } from '../../customers/key-summaries.ts'
import { countNotifications } from '../../customers/notifications.ts'
import { findProfile, profileRecord } from '../../customers/profiles.ts'
import { findAccount } from '../../money/ledger/entries.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { countTopUps } from '../../money/payments/top-ups.ts'
import { profileFields } from '../profile/profile-fields.ts'
import { answer, brl, count, nullable, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { readRunway, RUNWAY_PERIOD_DAYS } from '../../deliveries/alerts/read-runway.ts'

type Deps = Pick<HttpParts, 'db'>

const stats = answer({
  profile: nullable(answer(profileFields)),
  balance_brl: brl,
  keys: answer(
    { active: count, revoked: count },
    {
      description:
        'Uma chave suspensa por falta de saldo conta como ativa; uma que expirou, em nenhum dos dois.',
    },
  ),
  topups: answer({ paid: count, total: count }),
  notifications: answer({ failed: count, total: count }),
})

export const dashboardStatsRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/dashboard-stats',
    tag: 'Conta',
    summary: 'Os números da página inicial do painel',
    access: 'account',
    answer: stats,
    async handle({ caller: { customerId } }, deps: Deps) {
      const { db } = deps
      const [profile, account, keys, topups, notifications] = await Promise.all([
        findProfile(db, customerId),
        findAccount(db, customerId),
        countKeysByStatus(db, customerId),
        countTopUps(db, customerId),
        countNotifications(db, customerId),
      ])
      const { active = 0, suspended = 0, revoked = 0 } = Object.fromEntries(keys)
      return {
        profile: profile ? profileRecord(profile) : null,
        balance_brl: jsonBrl(account?.balanceNanoBrl ?? 0n),
        keys: {
          active: active + suspended,
          revoked,
        },
        topups,
        notifications,
      }
    },
  }),
]

const DAYS_MAX = 90

const runway = answer({
  balance_brl: brl,
  period_days: Type.Integer(),
  daily_avg_brl: Type.Number({
    description: 'O gasto dos últimos dias dividido pelo número de dias, em BRL.',
  }),
  runway_days: {
    ...nullable(count),
    description: 'Dias inteiros que o saldo dura; null com menos de R$ 0,01 por dia em média.',
  },
  critical: Type.Boolean({ description: 'O saldo dura menos de 7 dias.' }),
})

export const runwayRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/runway',
    tag: 'Uso',
    summary: 'Por quantos dias o saldo ainda dura',
    access: 'account',
    query: { days: wholeNumber(1, DAYS_MAX, RUNWAY_PERIOD_DAYS) },
    answer: runway,
    async handle({ caller, query }, deps: Deps) {
      const { days = RUNWAY_PERIOD_DAYS } = query
      const estimate = await readRunway(deps.db, caller.customerId, days)
      return {
        balance_brl: jsonBrl(estimate.balanceNanoBrl),
        period_days: days,
        daily_avg_brl: jsonBrl(estimate.dailyAverageNanoBrl),
        runway_days: estimate.runwayDays,
        critical: estimate.isCritical,
      }
    },
  }),
]

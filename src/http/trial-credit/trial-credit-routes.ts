import Type from 'typebox'
import {
  findTrialCredit,
  grantTrialCredit,
  type TrialOutcome,
  type TrialProgramme,
} from '../../money/payments/trial-credit/grant-trial-credit.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { CountedRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, brl, dateTime, nullable } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'db' | 'signIn' | 'webhooks'> & {
  readonly trial: TrialProgramme
}

const trialCredit = answer({
  status: Type.Enum(['offered', 'granted', 'none'], {
    description:
      '`offered`: a conta pode pedir, com um CPF ou CNPJ no perfil. `none`: não há crédito para esta conta.',
  }),
  amount_brl: { ...brl, description: 'Crédito promocional: é gasto primeiro e não é devolvido.' },
  granted_at: nullable(dateTime),
})

export const trialCreditRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/trial-credit',
    tag: 'Conta',
    summary: 'O crédito para experimentar',
    access: 'account',
    answer: trialCredit,
    handle: ({ caller }, deps: Deps) => bodyOf(deps, caller),
  }),

  restRoute({
    method: 'POST',
    path: '/me/trial-credit',
    tag: 'Conta',
    summary:
      'Pede o crédito para experimentar: um por CPF ou CNPJ, caixa de e-mail e aparelho, em contas sem nenhum crédito',
    repeats: 'in_transaction',
    access: 'manage',
    status: 201,
    answer: trialCredit,
    refusals: {
      400: ['cpf_required'],
      409: [
        'no_trial_credit',
        'trial_credit_used',
        'trial_credit_not_new',
        'trial_credit_exhausted',
      ],
    },
    async handle({ caller, request }, deps: Deps) {
      const { customerId, ip } = caller
      const deviceIds = devicesOf(deps, caller, request.headers.cookie)
      const { sealingKey: current, previousSealingKey: previous } = deps.webhooks
      const outcome = await grantTrialCredit(
        deps.db,
        actorOf(caller),
        { customerId, ip, deviceIds },
        deps.trial,
        { current, previous },
      )
      if (outcome.kind !== 'granted') throw refusalOf(outcome.kind)
      return bodyOf(deps, caller)
    },
  }),
]

/** A key has no browser. */
function devicesOf(
  { signIn }: Deps,
  caller: Caller,
  cookies: string | undefined,
): readonly string[] {
  return caller.keyId === undefined ? signIn.devices.allDevicesOf(cookies, caller.email) : []
}

async function bodyOf({ db, trial }: Deps, { customerId }: Caller) {
  const { status, amountNanoBrl, grantedAt } = await findTrialCredit(db, customerId, trial)
  return {
    status,
    amount_brl: jsonBrl(amountNanoBrl),
    granted_at: grantedAt?.toISOString() ?? null,
  }
}

function refusalOf(kind: Exclude<TrialOutcome['kind'], 'granted'>): CountedRefusal {
  return new CountedRefusal(kind === 'cpf_required' ? 400 : 409, kind, REASONS[kind])
}

const REASONS: Readonly<Record<Exclude<TrialOutcome['kind'], 'granted'>, string>> = {
  cpf_required: 'O perfil ainda não tem CPF ou CNPJ.',
  no_trial_credit: 'Não há crédito para experimentar.',
  trial_credit_not_new: 'O crédito é só para contas que ainda não tiveram nenhum.',
  // One text for all three: the answer must not tell whose CPF has an account.
  trial_credit_used: 'O crédito já foi usado com este CPF ou CNPJ, este e-mail ou este aparelho.',
  trial_credit_exhausted: 'O crédito de hoje acabou. Tente de novo amanhã, ou faça uma recarga.',
}

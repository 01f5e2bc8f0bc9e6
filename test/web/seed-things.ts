/** The data of the customer and of the operator in pictures and looks, made by the API. */
import { createApiKey } from '../../src/customers/api-keys.ts'
import { findCustomer } from '../../src/customers/customers.ts'
import type { GatewayProcess } from '../harness/gateway-process.ts'
import { openOperatorSession } from '../harness/open-session.ts'
import { createCaller } from '../http/isolation-cases/household.ts'
import type { Person } from './sign-up.ts'

export interface OwnThings {
  readonly customerId: string
  readonly webhookId: string
  readonly promptId: string
  readonly teamId: string
}

/** The profile, a top-up, a key, an alert, a webhook, a prompt and a team. */
export async function seedOwnThings(gateway: GatewayProcess, person: Person): Promise<OwnThings> {
  const { customerId, call } = await callerOf(gateway, person)
  await call('PUT', '/me/profile', {
    full_name: 'Ana Souza',
    cpf_cnpj: '52998224725',
    phone: '11987654321',
  })
  await call('POST', '/topups', { amount: 100 })
  await call('POST', '/api-keys', {
    name: 'Atendimento',
    model_ids: ['gpt-4o', 'claude-haiku-4-5'],
    budget: { limit_usd: 50, period: 'month' },
  })
  await call('POST', '/me/alerts', {
    name: 'Saldo acabando',
    kind: 'balance_below',
    threshold: 20,
    channels: ['email'],
  })
  const webhook = await call('POST', '/webhooks', {
    url: 'https://padariadigital.com.br/avisos',
    event_types: ['balance.low', 'topup.paid'],
  })
  const prompt = await call('POST', '/me/prompts', {
    name: 'Resposta ao cliente',
    body: 'Responda com gentileza a {{cliente}}, que escreveu: {{mensagem}}',
    tags: ['atendimento'],
    default_model: 'sandbox-chat',
  })
  await call('PATCH', `/me/prompts/${prompt.id}`, {
    body: 'Responda em até três frases a {{cliente}}, que escreveu: {{mensagem}}',
    change_note: 'mais curto',
  })
  const team = await call('POST', '/me/teams', { name: 'Produto', monthly_cap_brl: 500 })
  return { customerId, webhookId: webhook.id, promptId: prompt.id, teamId: team.id }
}

/** A courtesy to that customer, and an incident. */
export async function seedOperation(
  gateway: GatewayProcess,
  operator: Person,
  customerId: string,
): Promise<void> {
  const at = { db: gateway.database.db, dataDir: gateway.node.dataDir }
  const by = await callerOf(gateway, operator)
  const session = await openOperatorSession(at, by.customerId, operator.email)
  const call = createCaller(gateway, session)
  await call('POST', '/admin/adjustments', {
    customer_id: customerId,
    kind: 'credit',
    amount_brl: 900,
    reason: 'Cortesia pela indisponibilidade de ontem',
    reference: 'cortesia-2026-11',
  })
  await call('POST', '/admin/incidents', {
    title: 'Respostas lentas em modelos da OpenAI',
    message: 'Acompanhamos com o provedor. Os demais modelos funcionam normalmente.',
    severity: 'minor',
    models: ['gpt-4o'],
  })
}

async function callerOf(
  gateway: GatewayProcess,
  { email }: Person,
): Promise<{ customerId: string; call: ReturnType<typeof createCaller> }> {
  const { db } = gateway.database
  const customer = await findCustomer(db, email)
  if (!customer) throw new Error(`${email} is no customer`)
  const customerId = customer.id
  const input = {
    customerId,
    name: 'Servidor',
    scope: 'manage',
    requestsPerMinute: 1_000,
  } as const
  const { secret } = await createApiKey(db, input)
  return { customerId, call: createCaller(gateway, secret) }
}

/**
 * A customer who owns one or two of everything that there is to own, with those who are or were of a team of
 * hers. All texts hold a word that stands nowhere else.
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createId } from '../../../src/platform/lib/ids.ts'
import { createLog } from '../../../src/platform/lib/log.ts'
import { recordFindings } from '../../../src/money/reconciliation/discrepancies.ts'
import { beginBatch, chatLine, untilEnded, uploadLines } from '../../harness/batches.ts'
import { seedRefusals } from '../../harness/seed-refusals.ts'
import { seedVideo } from '../../harness/seed-video.ts'
import { seedPaidTopUp } from '../../harness/seed-paid-top-up.ts'
import { APPROVED, cardBody } from '../../harness/cards.ts'
import { seedCustomer, type TestDatabase } from '../../harness/test-database.ts'
import { addOperatorsThings, type OperatorsThings } from './add-operators-things.ts'
import { ask, sound, type Asked } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'

export const MARK = 'zibelina'
export const TAX_ID = '52998224725'

export interface Person {
  readonly customerId: string
  readonly email: string
  readonly secret: string
  readonly keyId: string
  /** Where the person has one. */
  readonly cardId?: string
  readonly fileId?: string
}

export interface Household {
  readonly owner: Person
  readonly member: Person
  readonly removedMember: Person
  /** Was invited and has not answered. */
  readonly guest: Person
  /** Of the owner's things, one each. */
  readonly ids: {
    readonly key: string
    readonly prompt: string
    readonly team: string
    readonly invitation: string
    /** Both to the guest, of teams of which she is none. */
    readonly guestsInvitation: string
    readonly declinedInvitation: string
    readonly teamKey: string
    readonly session: string
    readonly image: string
    readonly response: string
    readonly file: string
    readonly batch: string
    readonly runningBatch: string
    readonly messageBatch: string
    readonly runningMessageBatch: string
    readonly video: string
    readonly request: string
    readonly webhook: string
    readonly destination: string
    readonly attempt: string
    readonly topUp: string
    /** There is a receipt of it. */
    readonly paidTopUp: string
    readonly card: string
    readonly refund: string
    readonly otherRefund: string
    readonly alert: string
    readonly charge: string
    readonly publicBill: string
    readonly publicBillToken: string
    readonly difference: string
  } & OperatorsThings
  readonly secrets: {
    readonly key: string
    readonly teamKey: string
    readonly removedMembersTeamKey: string
    readonly guestsToken: string
  }
}

export async function createPerson(
  { db }: TestDatabase,
  name: string,
  balanceBrl = '1000',
): Promise<Person> {
  const email = `${name.toLowerCase().replaceAll(/\W+/g, '-')}@exemplo.com.br`
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl, name: `chave ${name}` })
  await db.updateTable('customers').set({ name, email }).where('id', '=', customerId).execute()
  // So long ago that a refund of it waits for an operator.
  await seedPaidTopUp(db, { customerId, cents: 3_000, daysAgo: 30, method: 'boleto' })
  return { customerId, email, secret, keyId: key.id }
}

/** As if she had signed in once: she needs no token of an invitation. */
async function proveEmail({ db }: TestDatabase, { email }: Person): Promise<void> {
  const user = { id: createId(), name: `Convidada ${MARK}`, email, is_verified: true }
  await db.insertInto('sign_in_users').values(user).execute()
}

/** Of two households, `nth` tells the people apart; all other words are the same. */
export async function createHousehold(gateway: TestGateway, nth = ''): Promise<Household> {
  const { database } = gateway
  const owner = await createPerson(database, `Dona ${MARK}${nth}`)
  const member = await createPerson(database, `Membro ${MARK}${nth}`)
  const removedMember = await createPerson(database, `Antigo ${MARK}${nth}`)
  const guest = await createPerson(database, `Convidada ${MARK}${nth}`)
  await proveEmail(database, guest)
  const by = (person: Person) => createCaller(gateway, person.secret)
  const asOwner = by(owner)

  const keys = [
    await asOwner('POST', '/api-keys', keyInput('uma')),
    await asOwner('POST', '/api-keys', keyInput('outra')),
  ]
  await asOwner('PUT', '/me/profile', { full_name: `Dona ${MARK}`, cpf_cnpj: TAX_ID, city: MARK })
  await asOwner('PUT', '/me/preferences', {
    timezone: 'America/Manaus',
    stored_responses_days: 7,
  })
  await asOwner('POST', '/topups', { amount: 30 })
  const topUp = await asOwner('POST', '/topups', { amount: 20 })
  const paid = { customerId: owner.customerId, cents: 2_000, daysAgo: 40 }
  const paidTopUp = await seedPaidTopUp(database.db, { ...paid, method: 'boleto' })
  const refund = await asOwner('POST', '/me/refunds', { amount: 6, reason: MARK })
  const otherRefund = await asOwner('POST', '/me/refunds', { amount: 7 })
  const alert = await asOwner('POST', '/me/alerts', {
    name: `Alerta ${MARK}`,
    kind: 'monthly_spend',
    threshold: 1_000_000,
    channels: ['webhook'],
    api_key_id: keys[0].id,
  })
  await asOwner('POST', '/payment-methods', cardBody(APPROVED))
  const card = await asOwner('POST', '/payment-methods', cardBody(APPROVED))
  await asOwner('PUT', '/topups/automatic', {
    threshold_brl: 1,
    amount_brl: 20,
    payment_method_id: card.id,
  })
  const prompt = await createPrompts(asOwner, keys[0].key)
  const calls = await makeCalls(gateway, owner)
  const batches = await makeBatches(gateway, owner)
  await seedRefusals(database.db, {
    customerId: owner.customerId,
    apiKeyId: keys[0].id,
    rows: ['upstream_error', 'service_unavailable'].map((code) => ({
      at: new Date(),
      code,
      status: 500,
      refusals: 2,
    })),
  })
  await sendNotifications(database, owner)
  await refer(database, owner, nth)
  // The code is made when it is first asked for.
  await asOwner('GET', '/me/referrals')
  const team = await createTeams(by, { owner, member, removedMember, guest })
  await gatewayCall(gateway, team.teamKeySecret, sound())
  await untilAllIsSent(database)
  // After that, so that no worker sends them anything.
  const webhooks = await createWebhooks(database, asOwner)
  const destination = await createDestinations(database, asOwner)
  const used = await asOwner('GET', '/usage')
  const publicBill = await asOwner('POST', '/me/public-bills', { session_id: calls.session })
  await asOwner('POST', '/me/public-bills', { session_id: 'outra-sessao' })
  const operators = await addOperatorsThings(database, {
    customerId: owner.customerId,
    requestedBy: guest.customerId,
    modelId: nth === '' ? 'gpt-4o' : 'gpt-5',
  })

  return {
    owner,
    member,
    removedMember,
    guest,
    ids: {
      key: keys[0].id,
      prompt,
      team: team.id,
      invitation: team.invitation,
      guestsInvitation: team.guestsInvitation,
      declinedInvitation: team.declinedInvitation,
      teamKey: team.teamKey,
      ...calls,
      ...batches,
      ...webhooks,
      destination,
      ...operators,
      topUp: topUp.id,
      paidTopUp,
      card: card.id,
      refund: refund.id,
      otherRefund: otherRefund.id,
      alert: alert.id,
      charge: used.usage_events[0].id,
      publicBill: publicBill.id,
      publicBillToken: publicBill.url.split('/').at(-1),
      difference: await recordDiscrepancy(database, topUp.id),
    },
    secrets: {
      key: keys[0].key,
      teamKey: team.teamKeySecret,
      removedMembersTeamKey: team.removedMembersTeamKey,
      guestsToken: team.guestsToken,
    },
  }
}

/** Mails are sent some seconds after their event. */
export async function untilAllIsSent({ db }: TestDatabase): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    const waiting = await db
      .selectFrom('events')
      .select('id')
      .where('dispatched_at', 'is', null)
      .unionAll(db.selectFrom('mails').select('id'))
      .execute()
    if (waiting.length === 0) return
    // Those on keys wait a minute for more of them.
    await sql`update mails set due_at = now() where due_at > now() and tries = 0`.execute(db)
    assert.ok(Date.now() < deadline, `${waiting.length} events or mails wait`)
  }
}

type Caller = (method: string, path: string, body?: unknown) => Promise<any>

export function createCaller({ node }: TestGateway, secret: string): Caller {
  return async (method, path, body) => {
    const answer = await ask(node.baseUrl, path, { method, secret, body })
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`)
    return answer.json
  }
}

function keyInput(name: string): object {
  return { name: `chave ${name} ${MARK}`, model_ids: ['sandbox-chat'] }
}

/** Two, of which one has a second version and a run. */
async function createPrompts(call: Caller, secret: string): Promise<string> {
  const fields = { description: MARK, tags: [MARK], default_model: 'sandbox-chat' }
  await call('POST', '/me/prompts', { name: `Outro ${MARK}`, body: MARK, ...fields })
  const { id } = await call('POST', '/me/prompts', { name: MARK, body: `${MARK} um`, ...fields })
  await call('PATCH', `/me/prompts/${id}`, { body: `${MARK} dois`, change_note: MARK })
  await call('POST', `/me/prompts/${id}/run`, { api_key: secret })
  return id
}

/** Two in one session, one in another, and an image. */
async function makeCalls(
  gateway: TestGateway,
  { secret, customerId, keyId }: Person,
): Promise<Record<'session' | 'image' | 'request' | 'response' | 'video', string>> {
  const session = `sessao-${MARK}`
  await gatewayCall(gateway, secret, sound(), 'outra-sessao')
  await gatewayCall(gateway, secret, sound(), session)
  const { requestId } = await gatewayCall(gateway, secret, sound(), session)
  const drawn = await ask(gateway.node.baseUrl, '/images/generations', {
    secret,
    body: { model: 'sandbox-image', prompt: MARK, size: '256x256' },
  })
  const image = String(drawn.json.data[0].url).split('/').at(-1) as string
  const answered = await ask(gateway.node.baseUrl, '/responses', {
    secret,
    body: { model: 'sandbox-chat', input: MARK },
  })
  const video = await seedVideo(gateway.database.db, { customerId, keyId })
  return { session, image, request: requestId, response: answered.json.id, video }
}

/** Of both formats one that has ended, and one that runs and has no line, so that no worker changes it. */
async function makeBatches({ database, node }: TestGateway, { customerId, keyId, secret }: Person) {
  const { baseUrl } = node
  const { json } = await uploadLines(baseUrl, secret, [chatLine(MARK)])
  const params = { model: 'sandbox-chat', max_tokens: 20, messages: sound().messages }
  const requests = [{ custom_id: MARK, params }]
  const batch = await beginBatch(baseUrl, secret, [chatLine(MARK)])
  const ofMessages = await ask(baseUrl, '/messages/batches', { secret, body: { requests } })
  const messageBatch = ofMessages.json.id as string
  for (const id of [batch, messageBatch]) await untilEnded(baseUrl, secret, id)
  const running = [createId(), createId()] as const
  await sql`insert into batches (id, customer_id, api_key_id, endpoint, input_file_id, lines, expires_at)
    select id, ${customerId}, ${keyId}, '/v1/messages', case place when 1 then id end, 1, now() + interval '1 day'
    from unnest(${[...running]}::uuid[]) with ordinality as u(id, place)`.execute(database.db)
  const [runningBatch, runningMessageBatch] = running.map((id) => id.replaceAll('-', ''))
  return {
    file: json.id as string,
    batch,
    messageBatch,
    runningBatch: `batch_${runningBatch}`,
    runningMessageBatch: `msgbatch_${runningMessageBatch}`,
  }
}

async function gatewayCall(
  { node }: TestGateway,
  secret: string,
  body: object,
  session?: string,
): Promise<Asked> {
  const headers: Record<string, string> = session ? { 'x-svc-session-id': session } : {}
  const answer = await ask(node.baseUrl, '/chat/completions', { secret, body, headers })
  assert.equal(answer.status, 200, answer.text)
  return answer
}

async function sendNotifications({ db }: TestDatabase, { customerId }: Person): Promise<void> {
  const row = { customer_id: customerId, template: 'balance_low' }
  await db
    .insertInto('notifications')
    .values([
      { id: createId(), ...row, status: 'sent', error: null },
      { id: createId(), ...row, status: 'failed', error: MARK },
    ])
    .execute()
}

async function refer(database: TestDatabase, { customerId }: Person, nth: string): Promise<void> {
  for (const name of ['Ana', 'Bia']) {
    const referred = await createPerson(database, `${name} ${MARK}${nth}`, '0')
    await database.db
      .insertInto('referrals')
      .values({
        customer_id: referred.customerId,
        referrer_id: customerId,
        rewarded_at: null,
        reward_nano_brl: null,
      })
      .execute()
  }
}

/** Two, of which one has two messages that are not due for a day, so that no worker changes them meanwhile. */
async function createWebhooks(
  { db }: TestDatabase,
  call: Caller,
): Promise<{ webhook: string; attempt: string }> {
  const fields = { url: `https://hooks.example.com/${MARK}`, description: MARK }
  await call('POST', '/webhooks', fields)
  const { id } = await call('POST', '/webhooks', fields)
  const { customer_id } = await db
    .selectFrom('webhook_endpoints')
    .select('customer_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const attempts = [createId(), createId()].map((attemptId) => ({
    id: attemptId,
    endpoint_id: id as string,
    customer_id,
    message_id: createId(),
    event_type: 'topup.paid',
    body: JSON.stringify({ type: 'topup.paid', data: { note: MARK } }),
    first_failed_at: null,
    due_at: new Date(Date.now() + 86_400_000),
  }))
  await db.insertInto('webhook_attempts').values(attempts).execute()
  return { webhook: id, attempt: attempts[0]?.id as string }
}

/** Two, which are not due for a day, so that no worker changes them meanwhile. */
async function createDestinations({ db }: TestDatabase, call: Caller): Promise<string> {
  const fields = {
    kind: 'otlp',
    url: `https://otlp.example.com/${MARK}`,
    headers: { [`x-${MARK}`]: MARK },
  }
  await call('POST', '/usage/destinations', fields)
  const { id } = await call('POST', '/usage/destinations', fields)
  await sql`update usage_destinations
    set due_at = now() + interval '1 day', last_answer = ${MARK}, last_error = 'http_status'
    where last_answer is null`.execute(db)
  return id
}

type People = Pick<Household, 'owner' | 'member' | 'removedMember' | 'guest'>

async function createTeams(
  by: (person: Person) => Caller,
  { owner, member, removedMember, guest }: People,
) {
  const asOwner = by(owner)
  const others = [
    await asOwner('POST', '/me/teams', { name: `Outra ${MARK}` }),
    await asOwner('POST', '/me/teams', { name: `Terceira ${MARK}` }),
  ]
  const { id } = await asOwner('POST', '/me/teams', { name: MARK, monthly_cap_brl: 100 })
  const path = `/me/teams/${id}`
  const invite = (email: string) =>
    asOwner('POST', `${path}/invitations`, { email, role: 'member' })
  for (const person of [member, removedMember]) {
    const { token } = await invite(person.email)
    await by(person)('POST', '/me/invitations/accept', { token })
  }
  const { token: guestsToken } = await invite(guest.email)
  const guests = { email: guest.email, role: 'member' }
  const [guestsInvitation, declinedInvitation] = [
    await asOwner('POST', `/me/teams/${others[0].id}/invitations`, guests),
    await asOwner('POST', `/me/teams/${others[1].id}/invitations`, guests),
  ]
  const { id: invitation } = await invite(`ninguem-${MARK}@exemplo.com.br`)
  const teamKey = await asOwner('POST', `${path}/keys`, keyInput('da equipe'))
  const { key: removedMembersTeamKey } = await by(removedMember)(
    'POST',
    `${path}/keys`,
    keyInput('antiga'),
  )
  await asOwner('DELETE', `${path}/members/${removedMember.customerId}`)
  return {
    id: id as string,
    invitation: invitation as string,
    guestsInvitation: guestsInvitation.id as string,
    declinedInvitation: declinedInvitation.id as string,
    teamKey: teamKey.id as string,
    teamKeySecret: teamKey.key as string,
    removedMembersTeamKey: removedMembersTeamKey as string,
    guestsToken: guestsToken as string,
  }
}

/** Of the owner's top-up, for admins to read. */
async function recordDiscrepancy({ db }: TestDatabase, topUpId: string): Promise<string> {
  const found = { subject: `top_up:${topUpId}`, processor: 'asaas', topUpId }
  const finding = { kind: 'paid_there_only', oursNanoBrl: 0n, theirsNanoBrl: 1n } as const
  await recordFindings(
    db,
    found,
    [finding],
    createLog('silent', () => {}),
  )
  const { id } = await db
    .selectFrom('reconciliation_discrepancies')
    .select('id')
    .where('top_up_id', '=', topUpId)
    .executeTakeFirstOrThrow()
  return id
}

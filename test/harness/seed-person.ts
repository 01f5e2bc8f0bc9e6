/** A customer of whom there is something in every table that holds personal data. */
import { createBatch } from '../../src/customers/batches/batches.ts'
import { storeFile } from '../../src/customers/batches/files.ts'
import { randomBytes } from 'node:crypto'
import { recordEvent } from '../../src/platform/events/record-event.ts'
import { sql } from 'kysely'
import { audited, OPERATOR, SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { saveProfile } from '../../src/customers/profiles.ts'
import { ensureReferralCode, refer } from '../../src/customers/referrals.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { storeImage } from '../../src/gateway/generated-images.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId, randomText, sha256 } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { requestRefund } from '../../src/money/payments/refunds/request-refund.ts'
import { explainDiscrepancy } from '../../src/money/reconciliation/discrepancies.ts'
import { createCachedAnswers } from '../../src/customers/cached-answers.ts'
import { storeResponse } from '../../src/customers/stored-responses/store-response.ts'
import { seedTeam } from './seed-team.ts'
import { seedCustomer } from './test-database.ts'
import { seedPaidTopUp } from './seed-paid-top-up.ts'
import { seedTopUp } from './seed-top-up.ts'
import { seedVideo } from './seed-video.ts'
import { seedUsage } from './seed-usage.ts'

export const TAX_ID = '24971563792'

export interface SeededPerson {
  readonly customerId: string
  readonly name: string
  readonly email: string
  readonly secret: string
  readonly keyId: string
  /** Made by the person, for the team of somebody else. */
  readonly teamSecret: string
  readonly teamOwnerId: string
  readonly sessionId: string
  /** Texts by the person and facts about the person: none may remain after a deletion. */
  readonly words: readonly string[]
}

/** With BRL 100, of which some is spent. */
export async function seedPerson(db: Database): Promise<SeededPerson> {
  const marker = createId().slice(-12)
  const name = `Marília ${marker}`
  const email = `marilia.${marker}@example.com`
  const sessionId = `conversa-${marker}`
  const customer = await createCustomer(db, { name, email })
  if ('kind' in customer) throw new Error(customer.kind)
  const customerId = customer.id
  await sql`update customers set stored_responses_days = 30 where id = ${customerId}`.execute(db)
  await credit(db, {
    customerId,
    amountNanoBrl: 100n * NANO_PER_BRL,
    reason: 'top_up',
    reference: createId(),
    note: `creditado a ${marker}`,
  })
  const { key, secret } = await createApiKey(db, {
    customerId,
    name: `chave ${marker}`,
    scope: 'manage',
    requestsPerMinute: 1_000_000,
    ipAllowlist: ['127.0.0.1', '203.0.113.77'],
  })
  await audited(db, { kind: 'customer', customerId, ip: '127.0.0.1' }, async (trx, record) => {
    await saveProfile(trx, customerId, {
      full_name: `Marília Souza ${marker}`,
      tax_id: TAX_ID,
      phone: '11987654321',
      street: `Rua ${marker}`,
    })
    await record({ action: 'profile.changed', customerId, subjectId: customerId })
  })
  await sql`insert into notifications (id, customer_id, template, status, error)
    values (${createId()}, ${customerId}, 'welcome', 'failed', ${`no mailbox ${email}`})`.execute(
    db,
  )
  await recordEvent(db, { customerId, type: 'key.created', data: { name: marker } })
  await seedMails(db, customerId, email, marker)
  await seedSignIn(db, email, marker)
  await seedWebhook(db, customerId, marker)
  await seedDestination(db, customerId, marker)
  await seedAlert(db, customerId, marker)
  await db
    .insertInto('public_bills')
    .values({
      id: createId(),
      token: randomText(32),
      customer_id: customerId,
      usage_event_id: null,
      session_id: sessionId,
    })
    .execute()
  await db
    .insertInto('trial_credits')
    .values({
      customer_id: customerId,
      amount_nano_brl: NANO_PER_BRL,
      tax_id_digest: sha256(`tax id ${marker}`),
      mailbox_digest: sha256(`mailbox ${marker}`),
      device_digest: sha256(`device ${marker}`),
      network_digest: sha256(`network ${marker}`),
    })
    .execute()
  await db
    .insertInto('external_users')
    .values({ external_id_hash: sha256(`external user ${marker}`), customer_id: customerId })
    .execute()
  await db
    .insertInto('processor_customers')
    .values({ customer_id: customerId, processor: 'asaas', processor_customer_id: `cus_${marker}` })
    .execute()
  await seedTopUp(db, { customerId, cents: 5_000 })
  await seedRefund(db, customerId, marker)
  await seedCard(db, customerId, marker)
  await seedAdjustments(db, customerId, marker)
  await seedDifference(db, customerId, marker)
  await seedPrompt(db, customerId, marker)
  await storeImage(db, customerId, {
    mediaType: 'image/png',
    bytes: Buffer.from(`imagem ${marker}`),
  })
  await seedVideo(db, { customerId, keyId: key.id })
  await createCachedAnswers({ db, sealingKey: randomBytes(32) }).put({
    customerId,
    digest: randomBytes(32),
    text: `resposta ${marker}`,
    seconds: 3_600,
  })
  const previous = { id: createId(), previousId: null }
  for (const { id, previousId } of [previous, { id: createId(), previousId: previous.id }]) {
    const part = { sealed: Buffer.from(`resposta ${marker}`), bytes: 25 }
    const row = { id, customerId, keyId: key.id, previousId, isFailed: false }
    await storeResponse(db, { ...row, input: part, response: part })
  }
  await seedBatch(db, customerId, key.id, marker)
  await seedUsage(db, {
    customerId,
    apiKeyId: key.id,
    events: [0, 30].map((daysAgo) => ({
      at: new Date(Date.now() - daysAgo * 86_400_000),
      modelId: 'sandbox-chat',
      promptTokens: 100,
      completionTokens: 50,
      sessionId,
    })),
  })
  await sql`select roll_usage_days(${customerId})`.execute(db)
  // As while a month is being archived.
  await sql`insert into archived_months (month, run, leased_until) values ('2020-01-01', ${createId()}, now())
    on conflict do nothing`.execute(db)
  await sql`
    insert into archived_sessions (month, customer_id, session_id, requests, prompt_tokens, completion_tokens,
      cost_billed_nano_brl, first_request_at, last_request_at)
    values ('2020-01-01', ${customerId}, 'sessao de Ana', 1, 1, 1, 1, '2020-01-02', '2020-01-02')`.execute(
    db,
  )
  await sql`insert into archived_session_keys (customer_id, key) values (${customerId}, sha256('key'))`.execute(
    db,
  )
  // As after a released call with a cap per task.
  await db
    .insertInto('task_spends')
    .values({
      api_key_id: key.id,
      session_id: sessionId,
      customer_id: customerId,
      limit_nano_brl: NANO_PER_BRL,
    })
    .execute()
  await sql`insert into shield_counts (customer_id, api_key_id, day, action, kind, occurrences)
    values (${customerId}, ${key.id}, current_date, 'mask', 'cpf', 3)`.execute(db)
  await sql`insert into usage_refusals (customer_id, hour_at, api_key_id, code, status, refusals, first_at, last_at)
    values (${customerId}, date_trunc('hour', now()), ${key.id}, 'model_not_found', 404, 3, now(), now())`.execute(
    db,
  )
  const { teamSecret, teamOwnerId } = await seedTeams(db, customerId, email, marker)
  await seedReferrals(db, customerId)
  return {
    customerId,
    name,
    email,
    secret,
    keyId: key.id,
    teamSecret,
    teamOwnerId,
    sessionId,
    words: [marker, TAX_ID, '11987654321', '203.0.113.77'],
  }
}

/** A file, a batch of its line, and one of Messages, which are not due for a day. */
async function seedBatch(
  db: Database,
  customerId: string,
  keyId: string,
  marker: string,
): Promise<void> {
  const sealing = { sealingKey: randomBytes(32) }
  const actor = { kind: 'customer', customerId, apiKeyId: keyId } as const
  const text = Buffer.from(`{"custom_id": "${marker}"}`)
  const file = await storeFile(db, sealing, actor, {
    customerId,
    keyId,
    name: `linhas de ${marker}.jsonl`,
    bytes: text.length,
    seconds: 86_400,
    async *read() {
      yield text
    },
  })
  if (typeof file === 'string') throw new Error(file)
  await db.transaction().execute(async (trx) => {
    for (const inputFileId of [file.id, null])
      await createBatch(trx, sealing, actor, {
        customerId,
        keyId,
        endpoint: inputFileId === null ? '/v1/messages' : '/v1/chat/completions',
        inputFileId,
        metadata: { nome: marker },
        async *lines() {
          yield [text.toString()]
        },
      })
    await sql`update batches set due_at = now() + interval '1 day' where customer_id = ${customerId}`.execute(
      trx,
    )
  })
}

/** Not due for a day, so that nobody sends them meanwhile: one of their own, and one by somebody else. */
async function seedMails(
  db: Database,
  customerId: string,
  email: string,
  marker: string,
): Promise<void> {
  const other = await seedCustomer(db, { balanceBrl: '0' })
  const due_at = new Date(Date.now() + 86_400_000)
  const data = JSON.stringify({ name: marker })
  const own = { id: createId(), customer_id: customerId, email: null, template: 'chave_criada' }
  const invited = {
    id: createId(),
    customer_id: other.customerId,
    email,
    template: 'convite_equipe',
  }
  await db
    .insertInto('mails')
    .values([
      { ...own, data, due_at },
      { ...invited, data, due_at },
    ])
    .execute()
  const shown = { subject: marker, list_unsubscribe: null, text: marker, html: marker }
  await db
    .insertInto('sandbox_mails')
    .values([
      { ...shown, id: createId(), customer_id: customerId, email },
      { ...shown, id: createId(), customer_id: other.customerId, email },
    ])
    .execute()
}

/** With a password, an account at a provider, a session, and a link on its way. */
async function seedSignIn(db: Database, email: string, marker: string): Promise<void> {
  const id = createId()
  await db
    .insertInto('sign_in_users')
    .values({ id, email, is_verified: true, name: `Marília ${marker}`, referral_code: null })
    .execute()
  await db
    .insertInto('sign_in_accounts')
    .values([
      {
        id: createId(),
        user_id: id,
        provider_id: 'credential',
        provider_account: id,
        password: 'x',
      },
      {
        id: createId(),
        user_id: id,
        provider_id: 'google',
        provider_account: `google ${marker}`,
        password: null,
      },
    ])
    .execute()
  const expires_at = new Date(Date.now() + 86_400_000)
  await db
    .insertInto('sign_in_sessions')
    .values({
      id: createId(),
      user_id: id,
      token: `token ${marker}`,
      expires_at,
      ip: '203.0.113.77',
      user_agent: `navegador ${marker}`,
    })
    .execute()
  await seedFactors(db, id, marker)
  await db
    .insertInto('sign_in_verifications')
    .values([
      { id: createId(), identifier: `reset ${id}`, value: id, expires_at },
      { id: createId(), identifier: `link ${id}`, value: JSON.stringify({ email }), expires_at },
    ])
    .execute()
}

async function seedFactors(db: Database, userId: string, marker: string): Promise<void> {
  const id = createId()
  await db
    .insertInto('sign_in_second_factors')
    .values({ id, user_id: userId, secret_sealed: Buffer.from('x'), enabled_at: new Date() })
    .execute()
  await db
    .insertInto('sign_in_backup_codes')
    .values({ user_id: userId, code_hash: Buffer.alloc(32) })
    .execute()
  await db
    .insertInto('sign_in_passkeys')
    .values({
      id,
      user_id: userId,
      name: `chave ${marker}`,
      public_key: `pública ${marker}`,
      credential_id: `chave-${marker}`,
      counter: 0,
      device_type: 'singleDevice',
      is_backed_up: false,
      transports: null,
      aaguid: null,
    })
    .execute()
}

/** With a message that is not due for a day. */
async function seedWebhook(db: Database, customerId: string, marker: string): Promise<void> {
  const id = createId()
  await db
    .insertInto('webhook_endpoints')
    .values({
      id,
      customer_id: customerId,
      url: `https://hooks.example.com/${marker}`,
      description: marker,
      event_types: null,
      secret_sealed: Buffer.from('sealed'),
    })
    .execute()
  await db
    .insertInto('webhook_attempts')
    .values({
      id: createId(),
      endpoint_id: id,
      customer_id: customerId,
      message_id: createId(),
      event_type: 'key.created',
      body: JSON.stringify({ type: 'key.created', data: { name: marker } }),
      first_failed_at: null,
      due_at: new Date(Date.now() + 86_400_000),
    })
    .execute()
}

async function seedDestination(db: Database, customerId: string, marker: string): Promise<void> {
  await db
    .insertInto('usage_destinations')
    .values({
      id: createId(),
      customer_id: customerId,
      kind: 'langfuse',
      url: `https://langfuse.example.com/${marker}`,
      secret_sealed: Buffer.from('sealed'),
      public_key: `pk-lf-${marker}`,
      header_names: [],
      includes_content: false,
      due_at: new Date(Date.now() + 86_400_000),
    })
    .execute()
}

/** With an automatic top-up that is switched off, and an attempt. */
async function seedCard(db: Database, customerId: string, marker: string): Promise<void> {
  const id = createId()
  await db
    .insertInto('payment_methods')
    .values({
      id,
      customer_id: customerId,
      processor: 'asaas',
      token_sealed: Buffer.from('sealed'),
      brand: 'VISA',
      last_four: '4444',
      holder_name: `MARILIA ${marker}`,
      expiry_month: 12,
      expiry_year: 2099,
    })
    .execute()
  await db
    .insertInto('automatic_top_ups')
    .values({
      customer_id: customerId,
      is_enabled: false,
      threshold_nano_brl: 10n * NANO_PER_BRL,
      amount_nano_brl: 50n * NANO_PER_BRL,
      payment_method_id: id,
      monthly_limit_nano_brl: null,
      remote_ip: '203.0.113.77',
      disabled_reason: null,
    })
    .execute()
  await db.insertInto('card_attempts').values({ id: createId(), customer_id: customerId }).execute()
  await db
    .insertInto('idempotency_keys')
    .values({
      id: createId(),
      customer_id: customerId,
      api_key_id: null,
      key_digest: Buffer.from('digest'),
      content_sealed: Buffer.from('sealed'),
      is_answered: true,
      running_until: null,
    })
    .execute()
}

async function seedAlert(db: Database, customerId: string, marker: string): Promise<void> {
  await db
    .insertInto('alerts')
    .values({
      id: createId(),
      customer_id: customerId,
      name: `Alerta ${marker}`,
      kind: 'monthly_spend',
      threshold_nano: 1_000_000n * NANO_PER_BRL,
      api_key_id: null,
      team_id: null,
      channels: ['email'],
    })
    .execute()
  await db.insertInto('balance_watches').values({ customer_id: customerId }).execute()
}

/**
 * Refunds a top-up that is paid for this purpose, so the balance does not change. It is a boleto, which no worker
 * returns.
 */
async function seedRefund(db: Database, customerId: string, marker: string): Promise<void> {
  await seedPaidTopUp(db, { customerId, cents: 500, method: 'boleto' })
  const input = { amountNanoBrl: 5n * NANO_PER_BRL, topUpId: undefined, reviewAboveNanoBrl: 0n }
  const reason = `desisti ${marker}`
  await db
    .transaction()
    .execute((trx) => requestRefund(trx, SYSTEM, { ...input, customerId, reason }))
  await sql`update refunds set decision_note = ${`pedido de ${marker}`}
    where customer_id = ${customerId}`.execute(db)
}

/** One by somebody else, and one by the person as an operator; each rejected by the other. */
async function seedAdjustments(db: Database, customerId: string, marker: string): Promise<void> {
  const { customerId: otherId } = await seedCustomer(db, { balanceBrl: '0' })
  const rejected = (ofId: string, byId: string) => ({
    id: createId(),
    customer_id: ofId,
    kind: 'credit' as const,
    amount_nano_brl: NANO_PER_BRL,
    reason: ofId === customerId ? `cortesia a ${marker}` : 'cortesia',
    reference: createId(),
    status: 'rejected' as const,
    requested_by: byId,
    decided_by: ofId,
    decided_at: new Date(),
  })
  await db
    .insertInto('customer_notes')
    .values([
      { id: createId(), customer_id: customerId, written_by: otherId, note: `Fala de ${marker}` },
      { id: createId(), customer_id: otherId, written_by: customerId, note: 'Ligou.' },
    ])
    .execute()
  await db
    .insertInto('adjustments')
    .values([rejected(customerId, otherId), rejected(otherId, customerId)])
    .execute()
}

/** A payment on which the processor disagrees, explained twice by operators. */
async function seedDifference(db: Database, customerId: string, marker: string): Promise<void> {
  const id = createId()
  await sql`
    insert into reconciliation_discrepancies
      (id, subject, kind, processor, top_up_id, ours_nano_brl, theirs_nano_brl)
    select ${id}, t.id::text, 'amount_differs', 'asaas', t.id, 1, 2
    from top_ups t where t.customer_id = ${customerId} limit 1`.execute(db)
  for (const time of ['a primeira', 'a segunda'])
    await explainDiscrepancy(db, OPERATOR, { id, explanation: `${time} vez de ${marker}` })
}

async function seedPrompt(db: Database, customerId: string, marker: string): Promise<void> {
  const id = createId()
  await db
    .insertInto('prompts')
    .values({
      id,
      customer_id: customerId,
      slug: `prompt-${marker}`,
      name: `Prompt ${marker}`,
      description: null,
      variables: [],
      tags: [marker],
      default_model: null,
      version: 2,
    })
    .execute()
  for (const version of [1, 2])
    await db
      .insertInto('prompt_versions')
      .values({ prompt_id: id, version, body: `Texto ${version} de ${marker}`, change_note: null })
      .execute()
}

/**
 * The person's own team with a member; a team of somebody else in which the person has a key; invitations in both
 * directions.
 */
async function seedTeams(
  db: Database,
  customerId: string,
  email: string,
  marker: string,
): Promise<{ teamSecret: string; teamOwnerId: string }> {
  const other = await seedCustomer(db, { balanceBrl: '10' })
  const own = await seedTeam(db, customerId, { name: `Equipe ${marker}` })
  const foreign = await seedTeam(db, other.customerId, { name: 'Equipe de outra pessoa' })
  const member = { role: 'member' as const }
  await db
    .insertInto('team_members')
    .values([
      { team_id: own, customer_id: other.customerId, ...member },
      { team_id: foreign, customer_id: customerId, ...member },
    ])
    .execute()
  const invitation = () => ({
    id: createId(),
    role: 'member' as const,
    token_hash: sha256(createId()),
    expires_at: new Date(Date.now() + 86_400_000),
  })
  await db
    .insertInto('team_invitations')
    .values([
      {
        ...invitation(),
        team_id: own,
        email: `amiga.${marker}@example.com`,
        invited_by: customerId,
      },
      { ...invitation(), team_id: foreign, email, invited_by: other.customerId },
    ])
    .execute()
  const { secret } = await createApiKey(db, {
    customerId: other.customerId,
    name: `equipe ${marker}`,
    requestsPerMinute: 1_000_000,
    teamId: foreign,
    createdBy: customerId,
  })
  return { teamSecret: secret, teamOwnerId: other.customerId }
}

async function seedReferrals(db: Database, customerId: string): Promise<void> {
  const before = await seedCustomer(db, { balanceBrl: '0' })
  const after = await seedCustomer(db, { balanceBrl: '0' })
  const code = await ensureReferralCode(db, before.customerId)
  const own = await ensureReferralCode(db, customerId)
  await db.transaction().execute(async (trx) => {
    await refer(trx, { customerId, code })
    await refer(trx, { customerId: after.customerId, code: own })
  })
}

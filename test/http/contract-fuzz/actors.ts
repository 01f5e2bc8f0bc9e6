/** The customers who call. Some exist for the whole run, others for the calls that end accounts and keys. */
import assert from 'node:assert/strict'
import { openSession } from '../../harness/open-session.ts'
import { createApiKey } from '../../../src/customers/api-keys.ts'
import { saveProfile } from '../../../src/customers/profiles.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { seedPaidTopUp } from '../../harness/seed-paid-top-up.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { APPROVED, cardBody } from '../../harness/cards.ts'
import { beginBatch, chatLine, uploadLines } from '../../harness/batches.ts'
import { ask, askChat, sound } from '../../harness/ask.ts'
import type { TestGateway } from '../../harness/gateway.ts'
import { Pools, type Actor } from './pools.ts'

const EXPORTED = {
  kind: 'otlp',
  url: 'https://hooks.example.com/otlp',
  headers: { authorization: 'Bearer x' },
}

export async function createActor(
  { database, node }: TestGateway,
  email: string,
  isAdmin: boolean,
): Promise<Actor> {
  const { db } = database
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '100000', name: 'fuzz' })
  const set = { email, stored_responses_days: 30 }
  await db.updateTable('customers').set(set).where('id', '=', customerId).execute()
  // Their e-mail is verified, so they can accept invitations without a token.
  const user = { id: createId(), name: 'Fuzz', email: email.toLowerCase(), is_verified: true }
  await db.insertInto('sign_in_users').values(user).execute()
  await saveProfile(db, customerId, { full_name: 'Fuzz', tax_id: '52998224725' })
  // An old boleto: its refunds wait for an operator, and then for the transfer.
  await seedPaidTopUp(db, { customerId, cents: 10_000_000, daysAgo: 30, method: 'boleto' })
  const { json } = await ask(node.baseUrl, '/me/teams', { secret, body: { name: 'De sempre' } })
  const card = await ask(node.baseUrl, '/payment-methods', { secret, body: cardBody(APPROVED) })
  const spoken = { model: 'sandbox-chat', input: 'Olá', store: true }
  const response = await ask(node.baseUrl, '/responses', { secret, body: spoken })
  const destination = await ask(node.baseUrl, '/usage/destinations', { secret, body: EXPORTED })
  assert.deepEqual([response.status, destination.status], [200, 201])
  const file = await uploadLines(node.baseUrl, secret, [chatLine('um')])
  const batchId = await beginBatch(node.baseUrl, secret, [chatLine('um')])
  const other = await seedCustomer(db, { balanceBrl: '0' })
  const pools = new Pools([key.id, json.id, card.json.id])
  // No request deletes it.
  pools.add('/kept-cards', `/kept-cards/${card.json.id}`)
  const sessionId = `de-sempre-${email}`
  await askChat(node.baseUrl, secret, sound(), { 'x-svc-session-id': sessionId })
  pools.add('/me/sessions', `/me/sessions/${sessionId}`)
  const automatic = { threshold_brl: 0, amount_brl: 20, payment_method_id: card.json.id }
  await ask(node.baseUrl, '/topups/automatic', { secret, method: 'PUT', body: automatic })
  const at = { db, dataDir: node.dataDir }
  const operatorSecret = isAdmin
    ? await openSession(at, customerId, { hasFactor: true })
    : undefined
  pools.add('/kept-files', `/kept-files/${file.json.id}`)
  const kept = new Map([
    ['/me/teams', json.id],
    ['/responses', response.json.id],
    ['/usage/destinations', destination.json.id],
    ['/batches', batchId],
    ['/admin/api-keys', other.key.id],
    ['/admin/models', 'gpt-4.1-nano'],
  ])
  if (operatorSecret !== undefined) {
    const body = { rate: 5.2, rate_date: '2026-01-01', reason: 'teste' }
    const rate = await ask(node.baseUrl, '/admin/fx-rates', { secret: operatorSecret, body })
    kept.set('/admin/fx-rates', String(rate.json.fx_rate.id))
  }
  return { email, secret, operatorSecret, pools, kept }
}

/** A customer with a second key; both may be revoked. */
export async function createDisposableActor(
  { database: { db } }: TestGateway,
  email: string,
): Promise<Actor> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '0' })
  await db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
  const second = await createApiKey(db, { customerId, name: 'outra', requestsPerMinute: 100 })
  const pools = new Pools()
  for (const { id } of [key, second.key]) pools.add('/api-keys', `/api-keys/${id}`)
  return { email, secret, pools, kept: new Map() }
}

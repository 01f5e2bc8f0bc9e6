import { sql } from 'kysely'
import { cancelBatch, createBatch, deleteBatch } from '../../src/customers/batches/batches.ts'
import { deleteFile, storeFile } from '../../src/customers/batches/files.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createAlert, changeAlert, deleteAlert } from '../../src/deliveries/alerts/alerts.ts'
import { OPERATOR, SYSTEM, type Actor } from '../../src/platform/audit-log/audited.ts'
import { changeShield } from '../../src/customers/change-shield.ts'
import {
  changeKey,
  createKey,
  pauseKey,
  pauseLeakedKey,
  resumeKey,
  revokeKey,
} from '../../src/customers/key-acts.ts'
import { savePreferences } from '../../src/customers/preferences.ts'
import { changeProfile } from '../../src/customers/profiles.ts'
import { changeSpendingGuard } from '../../src/customers/spending-guard.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { exportAccount, WHOLE_EXPORT } from '../../src/identity/personal-data/export-account.ts'
import { deletePrompt } from '../../src/customers/prompts/prompts.ts'
import { createPublicBill, deletePublicBill } from '../../src/money/public-bills/public-bills.ts'
import { deleteResponse } from '../../src/customers/stored-responses/response-store.ts'
import { deleteVideo } from '../../src/gateway/calls/videos/videos.ts'
import { stopAccount } from '../../src/identity/sign-in/sessions.ts'
import {
  changeDestination,
  createDestination,
  deleteDestination,
} from '../../src/deliveries/usage-destinations/usage-destinations.ts'
import { replayAttempt } from '../../src/deliveries/webhooks/queue-messages.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  rotateSigningSecret,
} from '../../src/deliveries/webhooks/webhook-endpoints.ts'
import { seedPerson, type SeededPerson } from '../harness/seed-person.ts'
import type { ActInTest } from './act-in-test.ts'

const key = Buffer.alloc(32, 3)

/** Acts of a customer on keys, webhooks, alerts, prompts, and the account itself. */
export async function customerActs(
  db: Database,
  { customerId, keyId }: SeededPerson,
): Promise<ActInTest[]> {
  const customer: Actor = { kind: 'customer', customerId, isProved: true }
  const idIn = async (
    table:
      | 'alerts'
      | 'prompts'
      | 'public_bills'
      | 'usage_events'
      | 'stored_responses'
      | 'batches'
      | 'files'
      | 'videos'
      | 'webhook_endpoints'
      | 'webhook_attempts'
      | 'usage_destinations',
  ): Promise<string> => {
    const row = await db
      .selectFrom(table)
      .select('id')
      .where('customer_id', '=', customerId)
      .executeTakeFirstOrThrow()
    return row.id
  }
  const alert = { customerId, id: await idIn('alerts') }
  const prompt = { customerId, id: await idIn('prompts') }
  const webhook = { customerId, id: await idIn('webhook_endpoints') }
  const bill = { customerId, id: await idIn('public_bills') }
  const usageEventId = await idIn('usage_events')
  const attemptId = await idIn('webhook_attempts')
  const destination = { customerId, id: await idIn('usage_destinations') }
  const response = await idIn('stored_responses')
  const reader = { customerId, keyId, seesAccount: true }
  const batch = { reader, id: await idIn('batches'), messages: false }
  const fileId = await idIn('files')
  const sealing = { sealingKey: key }
  const endedBatch = createId()
  await sql`insert into batches (id, customer_id, api_key_id, endpoint, lines, expires_at, ended_at)
    values (${endedBatch}, ${customerId}, ${keyId}, '/v1/messages', 0, now(), now())`.execute(db)
  const video = await idIn('videos')
  const webhookInput = { url: 'https://hooks.example.com', description: null, eventTypes: null }
  // No refund of theirs is in review, which the other acts leave behind.
  const leaver = { ...customer, customerId: (await seedPerson(db)).customerId }
  const failing = await createWebhook(db, customer, key, { ...webhookInput, customerId })
  if ('kind' in failing) throw new Error(failing.kind)
  await disableWebhook(db, failing.endpoint.id, 'failing')
  const paused = await createKey(db, customer, {
    customerId,
    name: 'pausada',
    requestsPerMinute: 1,
  })
  const found = await createKey(db, customer, { customerId, name: 'vazada', requestsPerMinute: 1 })
  if (paused.kind !== 'created' || found.kind !== 'created') throw new Error('no key was made')
  await pauseKey(db, customer, { customerId, keyId: paused.key.id })
  return [
    {
      action: 'api_key.paused',
      table: 'api_keys',
      run: () => pauseKey(db, customer, { customerId, keyId }),
    },
    {
      action: 'api_key.paused',
      table: 'api_keys',
      run: () => pauseLeakedKey(db, SYSTEM, found.secret),
    },
    {
      action: 'api_key.resumed',
      table: 'api_keys',
      run: () => resumeKey(db, customer, { customerId, keyId: paused.key.id }),
    },
    {
      action: 'spending_guard.changed',
      table: 'customers',
      run: () => changeSpendingGuard(db, customer, { customerId, change: { factor: null } }),
    },
    {
      action: 'account.stopped',
      table: 'api_keys',
      run: () => stopAccount(db, customer, { customerId }),
    },
    {
      action: 'api_key.created',
      table: 'api_keys',
      run: () => createKey(db, customer, { customerId, name: 'nova', requestsPerMinute: 1 }),
    },
    {
      action: 'api_key.changed',
      table: 'api_keys',
      run: () =>
        changeKey(db, customer, {
          customerId,
          keyId,
          change: { name: 'outra' },
          fields: ['name'],
        }),
    },
    {
      action: 'api_key.revoked',
      table: 'api_keys',
      run: () => revokeKey(db, customer, { keyId }),
    },
    {
      action: 'preferences.changed',
      table: 'customers',
      run: () =>
        savePreferences(db, customer, { customerId, change: { weekly_digest_enabled: false } }),
    },
    {
      action: 'shield.changed',
      table: 'customers',
      run: () => changeShield(db, customer, { customerId, change: { action: 'mask' } }),
    },
    {
      action: 'profile.changed',
      table: 'profiles',
      run: () => changeProfile(db, customer, { customerId, change: { city: 'Santos' } }),
    },
    {
      action: 'response.deleted',
      table: 'stored_responses',
      run: () =>
        deleteResponse(db, customer, {
          reader: { customerId, keyId, seesAccount: false },
          id: response,
        }),
    },
    {
      action: 'file.created',
      table: 'files',
      run: () =>
        storeFile(db, sealing, customer, {
          customerId,
          keyId,
          name: 'a',
          bytes: 1,
          seconds: 60,
          async *read() {
            yield Buffer.from('a')
          },
        }),
    },
    {
      action: 'batch.created',
      table: 'batches',
      run: () =>
        createBatch(db, sealing, customer, {
          customerId,
          keyId,
          endpoint: '/v1/messages',
          inputFileId: null,
          metadata: null,
          async *lines() {
            yield ['{}']
          },
        }),
    },
    {
      action: 'batch.canceled',
      table: 'batches',
      run: () => cancelBatch(db, customer, batch),
    },
    {
      action: 'batch.deleted',
      table: 'batches',
      run: () => deleteBatch(db, customer, { reader, id: endedBatch, messages: true }),
    },
    {
      action: 'file.deleted',
      table: 'files',
      run: () => deleteFile(db, customer, { reader, id: fileId }),
    },
    {
      action: 'video.deleted',
      table: 'videos',
      run: () =>
        deleteVideo(db, customer, {
          reader: { customerId, keyId, seesAccount: false },
          id: video,
        }),
    },
    {
      action: 'prompt.deleted',
      table: 'prompts',
      run: () => deletePrompt(db, customer, prompt),
    },
    {
      action: 'public_bill.created',
      table: 'public_bills',
      run: () => createPublicBill(db, customer, customerId, { usageEventId }),
    },
    {
      action: 'public_bill.deleted',
      table: 'public_bills',
      run: () => deletePublicBill(db, customer, bill),
    },
    {
      action: 'alert.created',
      table: 'alerts',
      run: () =>
        createAlert(db, customer, {
          customerId,
          name: 'Gasto',
          kind: 'monthly_spend',
          thresholdNano: 1n,
          apiKeyId: null,
          teamId: null,
          channels: ['email'],
          isEnabled: true,
        }),
    },
    {
      action: 'alert.changed',
      table: 'alerts',
      run: () =>
        changeAlert(db, customer, {
          ...alert,
          readChange: () => ({ name: 'Outro' }),
          fields: ['name'],
        }),
    },
    {
      action: 'alert.deleted',
      table: 'alerts',
      run: () => deleteAlert(db, customer, alert),
    },
    {
      action: 'webhook.created',
      table: 'webhook_endpoints',
      run: () => createWebhook(db, customer, key, { ...webhookInput, customerId }),
    },
    {
      action: 'webhook.changed',
      table: 'webhook_endpoints',
      run: () =>
        changeWebhook(db, customer, {
          ...webhook,
          change: { description: 'outra' },
          fields: ['description'],
        }),
    },
    {
      action: 'webhook.deleted',
      table: 'webhook_endpoints',
      run: () => deleteWebhook(db, customer, webhook),
    },
    {
      action: 'webhook.secret_rotated',
      table: 'webhook_endpoints',
      run: () => rotateSigningSecret(db, customer, key, webhook),
    },
    {
      action: 'webhook.enabled',
      table: 'webhook_endpoints',
      run: () => enableWebhook(db, OPERATOR, { id: failing.endpoint.id }),
    },
    {
      action: 'webhook.replayed',
      table: 'webhook_attempts',
      run: () => replayAttempt(db, customer, { customerId, attemptId }),
    },
    {
      action: 'usage_destination.created',
      table: 'usage_destinations',
      run: () =>
        createDestination(db, customer, key, {
          customerId,
          url: 'https://otlp.example.com',
          access: { kind: 'otlp', headers: {} },
          includesContent: false,
        }),
    },
    {
      action: 'usage_destination.changed',
      table: 'usage_destinations',
      run: () =>
        changeDestination(db, customer, key, {
          ...destination,
          readChange: () => ({ includesContent: true }),
          fields: ['includes_content'],
        }),
    },
    {
      action: 'usage_destination.deleted',
      table: 'usage_destinations',
      run: () => deleteDestination(db, customer, destination),
    },
    {
      action: 'account.exported',
      table: 'audit_log',
      run: () => exportAccount(db, customer, { customerId, bounds: WHOLE_EXPORT }),
    },
    {
      action: 'account.deleted',
      table: 'customers',
      run: () => deleteAccount(db, leaver, { customerId: leaver.customerId, waiveBalance: true }),
    },
  ]
}

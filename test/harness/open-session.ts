/** A login session without the way through sign-in, as a credential for `ask`. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Database } from '../../src/platform/db/open.ts'
import { deriveKey, ensureSealingKey } from '../../src/platform/lib/sealing-key.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createProcessLog } from '../../src/platform/lib/log.ts'
import { createSignIn } from '../../src/identity/sign-in/create-sign-in.ts'
import { sessionSecret } from './ask.ts'

/** At a node that keeps its sealing key in its data folder. The customer's e-mail is proved by this. */
export async function openSession(
  { db, dataDir }: { readonly db: Database; readonly dataDir: string },
  customerId: string,
  {
    isProved = true,
    hasFactor = false,
  }: { readonly isProved?: boolean; readonly hasFactor?: boolean } = {},
): Promise<string> {
  const sealingKey = await ensureSealingKey(dataDir)
  const token = randomBytes(24).toString('base64url')
  const id = createId()
  await db
    .insertInto('sign_in_sessions')
    .values({
      id,
      user_id: await ensureUser(db, customerId),
      token,
      expires_at: new Date(Date.now() + 86_400_000),
      ip: '127.0.0.1',
      user_agent: 'test',
      ...(hasFactor ? { factor_at: new Date() } : {}),
      proved_at: new Date(Date.now() - (isProved ? 0 : 3_600_000)),
    })
    .execute()
  const secret = deriveKey(sealingKey, 'sign-in').toString('base64url')
  const mac = createHmac('sha256', secret).update(token).digest('base64')
  const log = createProcessLog('silent', () => {})
  const signIn = createSignIn({ db, sealingKey, publicUrl: undefined, mode: 'sandbox', log })
  return sessionSecret({
    cookie: `catraca.session_token=${encodeURIComponent(`${token}.${mac}`)}`,
    csrfToken: signIn.csrfTokenOf(id),
  })
}

async function ensureUser(db: Database, customerId: string): Promise<string> {
  const { email } = await db
    .selectFrom('customers')
    .select('email')
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  const wanted = (email ?? `${customerId}@exemplo.com.br`).toLowerCase()
  if (email === null)
    await db.updateTable('customers').set({ email: wanted }).where('id', '=', customerId).execute()
  const { id } = await db
    .insertInto('sign_in_users')
    .values({
      id: createId(),
      email: wanted,
      is_verified: true,
      name: 'Teste',
      referral_code: null,
    })
    .onConflict((conflict) => conflict.column('email').doUpdateSet({ is_verified: true }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

/** A code of an app, so that keys of the operator stay in force. */
export async function enableFactor(db: Database, customerId: string): Promise<void> {
  const user_id = await ensureUser(db, customerId)
  const factor = { id: createId(), user_id, secret_sealed: randomBytes(32), enabled_at: new Date() }
  await db.insertInto('sign_in_second_factors').values(factor).execute()
}

/** Of a customer who gets the operator's e-mail, with a second factor. */
export async function openOperatorSession(
  at: { readonly db: Database; readonly dataDir: string },
  customerId: string,
  email: string,
): Promise<string> {
  await at.db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
  return openSession(at, customerId, { hasFactor: true })
}

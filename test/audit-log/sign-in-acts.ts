import { OPERATOR, type Actor } from '../../src/platform/audit-log/audited.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { acceptTerms, CURRENT_LEGAL_VERSION } from '../../src/customers/legal/legal-versions.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import {
  disableSecondFactor,
  enableSecondFactor,
  endOtherSessions,
  endSession,
  recordLinkedProvider,
  recordNewPasskey,
  recordNewPassword,
  recordPasswordReset,
  removePasskey,
  renewBackupCodes,
  unlinkProvider,
} from '../../src/identity/sign-in/security-acts.ts'
import { resetSecondFactor } from '../../src/identity/sign-in/reset-second-factor.ts'
import type { Session } from '../../src/identity/sign-in/sessions.ts'
import type { SeededPerson } from '../harness/seed-person.ts'
import { seedCustomer } from '../harness/test-database.ts'
import type { ActInTest } from './act-in-test.ts'

/** Acts that guard an account, in one of the two login sessions of a person with a passkey and a second factor. */
export async function signInActs(db: Database, person: SeededPerson): Promise<ActInTest[]> {
  const { customerId, email } = person
  const { id: userId } = await db
    .selectFrom('sign_in_users')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  const { customerId: operatorId } = await seedCustomer(db, { balanceBrl: '0' })
  const facts = { isProved: true, hasFactor: true }
  const session: Session = { id: createId(), userId, customerId, email, ...facts }
  await db
    .insertInto('sign_in_sessions')
    .values({
      id: session.id,
      user_id: userId,
      token: 'token',
      expires_at: new Date(Date.now() + 86_400_000),
      ip: null,
      user_agent: null,
    })
    .execute()
  const { id: passkeyId } = await db
    .selectFrom('sign_in_passkeys')
    .select('id')
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  const pending = { ...session, userId: await seedPendingFactor(db) }
  const actor: Actor = { kind: 'customer', customerId, sessionId: session.id, ip: '127.0.0.1' }
  return [
    {
      action: 'terms.accepted',
      table: 'customers',
      run: () => acceptTerms(db, actor, { customerId, version: CURRENT_LEGAL_VERSION }),
    },
    {
      action: 'second_factor.enabled',
      table: 'sign_in_second_factors',
      run: () => enableSecondFactor(db, actor, { session: pending }),
    },
    {
      action: 'second_factor.disabled',
      table: 'sign_in_second_factors',
      run: () => disableSecondFactor(db, actor, { session }),
    },
    {
      action: 'second_factor.reset_requested',
      table: 'sign_in_second_factors',
      run: () =>
        resetSecondFactor(
          db,
          { kind: 'customer', customerId: operatorId },
          { customerId, reason: 'teste' },
        ),
    },
    {
      action: 'second_factor.reset',
      table: 'sign_in_second_factors',
      run: () => resetSecondFactor(db, OPERATOR, { customerId, reason: 'teste' }),
    },
    {
      action: 'backup_codes.renewed',
      table: 'sign_in_backup_codes',
      run: () => renewBackupCodes(db, actor, { session }),
    },
    {
      action: 'passkey.added',
      table: 'mails',
      run: () => recordNewPasskey(db, actor, { session, id: passkeyId, name: 'chave' }),
    },
    {
      action: 'provider.linked',
      table: 'mails',
      run: () => recordLinkedProvider(db, { userId, provider: 'github', ip: undefined }),
    },
    {
      action: 'provider.unlinked',
      table: 'sign_in_accounts',
      run: () => unlinkProvider(db, actor, { session, provider: 'google' }),
    },
    {
      action: 'passkey.removed',
      table: 'sign_in_passkeys',
      run: () => removePasskey(db, actor, { session, id: passkeyId }),
    },
    {
      action: 'password.changed',
      table: 'sign_in_sessions',
      run: () => recordNewPassword(db, actor, { session }),
    },
    {
      action: 'password.changed',
      table: 'sign_in_users',
      run: () => recordPasswordReset(db, { id: userId, email }),
    },
    {
      action: 'session.ended',
      table: 'sign_in_sessions',
      run: () => endSession(db, actor, { session, id: session.id }),
    },
    {
      action: 'sessions.ended',
      table: 'sign_in_sessions',
      run: () => endOtherSessions(db, actor, { session }),
    },
  ]
}

/** A user whose app has shown its first code; returns the user's id. */
async function seedPendingFactor(db: Database): Promise<string> {
  const id = createId()
  await db
    .insertInto('sign_in_users')
    .values({ id, email: 'nova@example.com', is_verified: true, name: 'Nova', referral_code: null })
    .execute()
  await db
    .insertInto('sign_in_second_factors')
    .values({ id, user_id: id, secret_sealed: Buffer.from('x'), enabled_at: null, last_step: 1n })
    .execute()
  return id
}

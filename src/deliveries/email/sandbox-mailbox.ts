/**
 * The mailbox of sandbox mode. It is in the database, so that every node shows the same mails; nothing is sent.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { Mailer } from './mailer.ts'

export interface SandboxMail {
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly listUnsubscribe: string | null
  readonly text: string
  readonly html: string
  readonly createdAt: Date
}

/** The most mails that the mailbox keeps; older ones are deleted. */
export const SANDBOX_MAILS_MAX = 500

export function createSandboxMailer(db: Database): Mailer {
  return {
    async deliver(mail) {
      await db
        .insertInto('sandbox_mails')
        .values({
          id: mail.id,
          customer_id: mail.customerId,
          email: mail.to.toLowerCase(),
          subject: mail.subject,
          list_unsubscribe: mail.listUnsubscribe ?? null,
          text: mail.text,
          html: mail.html,
        })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
      await sql`
        delete from sandbox_mails where id in (
          select id from sandbox_mails order by created_at desc, id desc offset ${SANDBOX_MAILS_MAX})`.execute(
        db,
      )
      return { kind: 'delivered' }
    },
    close() {},
  }
}

/** Returns mails without their bodies, the newest first. */
export async function listSandboxMails(
  db: Database,
): Promise<Pick<SandboxMail, 'id' | 'to' | 'subject' | 'createdAt'>[]> {
  return db
    .selectFrom('sandbox_mails')
    .select(['id', 'email as to', 'subject', 'created_at as createdAt'])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(SANDBOX_MAILS_MAX)
    .execute()
}

export async function findSandboxMail(db: Database, id: string): Promise<SandboxMail | undefined> {
  return db
    .selectFrom('sandbox_mails')
    .select(['id', 'email as to', 'subject', 'text', 'html'])
    .select(['list_unsubscribe as listUnsubscribe', 'created_at as createdAt'])
    .where('id', '=', id)
    .executeTakeFirst()
}

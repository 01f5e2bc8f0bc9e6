import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { sha256 } from '../lib/ids.ts'
import type { MailData } from './mail-content.ts'
import type { TemplateName } from './render-mail.ts'

export interface MailToQueue {
  /** On whose account it is: the reader, or whoever has it sent to somebody else. Null: nobody's yet; then `email` is given. */
  readonly customerId: string | null
  readonly template: TemplateName
  readonly data: MailData
  /** What it tells of: of one fact a template is sent once. */
  readonly reference: string
  /** To somebody else than the customer. */
  readonly email?: string
  /** How long it waits before it is sent. */
  readonly delaySeconds?: number
}

/**
 * In the transaction of what it tells of, so that neither is there without the other. The customer's address is
 * looked up when it is sent. Does nothing for a customer who is deleted, and where it was told before.
 */
export async function queueMail(trx: Database, mail: MailToQueue): Promise<void> {
  const id = mailId(mail.template, mail.reference)
  if (mail.customerId === null) return queueToStranger(trx, id, mail)
  // Waits for a deletion of the customer that runs, and for whoever sends the same mail.
  await sql`
    insert into mails (id, customer_id, email, template, data, due_at)
    select ${id}, id, ${mail.email?.toLowerCase() ?? null}, ${mail.template}, ${JSON.stringify(mail.data)},
      now() + make_interval(secs => ${mail.delaySeconds ?? 0})
    from customers where id = ${mail.customerId} and deleted_at is null
    for key share
    on conflict (id) do nothing`.execute(trx)
  // A statement of its own: it sees what the one before has waited for.
  await sql`
    delete from mails where id = ${id} and exists (select 1 from notifications where id = ${id})`.execute(
    trx,
  )
}

/** Nothing is recorded of it when it is sent, so that its reference must be of one moment. */
async function queueToStranger(trx: Database, id: string, mail: MailToQueue): Promise<void> {
  const { email, template, data, delaySeconds = 0 } = mail
  if (email === undefined) throw new Error('a mail to nobody')
  await sql`
    insert into mails (id, email, template, data, due_at)
    values (${id}, ${email.toLowerCase()}, ${template}, ${JSON.stringify(data)},
      now() + make_interval(secs => ${delaySeconds}))
    on conflict (id) do nothing`.execute(trx)
}

/** The same for the same fact, ever after: of a mail that waits, of its notification, of its Message-ID. */
export function mailId(template: TemplateName, reference: string): string {
  const bytes = sha256(`mail ${template} ${reference}`).subarray(0, 16)
  // A UUID of version 8 (RFC 9562): made in a way of our own.
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

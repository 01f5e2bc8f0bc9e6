import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { sha256 } from '../../platform/lib/ids.ts'
import type { MailData } from './mail-content.ts'
import type { TemplateName } from './render-mail.ts'

export interface MailToQueue {
  /**
   * The customer on whose behalf the mail is sent: its reader, or the person who sends an invitation. Null when
   * there is no customer yet; then `email` is required.
   */
  readonly customerId: string | null
  readonly template: TemplateName
  readonly data: MailData
  /** The reported fact: each template is sent once for each reference. */
  readonly reference: string
  /** The address of a reader who is not the customer. */
  readonly email?: string
  /** How long the mail waits before it is sent, in seconds. */
  readonly delaySeconds?: number
}

/**
 * Runs in the transaction of the fact, so that the mail exists if and only if the fact does. The customer's
 * address is looked up at sending. Does nothing for a deleted customer, or when the mail was sent before.
 */
export async function queueMail(trx: Database, mail: MailToQueue): Promise<void> {
  const id = mailId(mail.template, mail.reference)
  if (mail.customerId === null) return queueToStranger(trx, id, mail)
  // Waits for a running deletion of the customer, and for a worker that sends the same mail.
  await sql`
    insert into mails (id, customer_id, email, template, data, due_at)
    select ${id}, id, ${mail.email?.toLowerCase() ?? null}, ${mail.template}, ${JSON.stringify(mail.data)},
      now() + make_interval(secs => ${mail.delaySeconds ?? 0})
    from customers where id = ${mail.customerId} and deleted_at is null
    for key share
    on conflict (id) do nothing`.execute(trx)
  // A separate statement, so that it sees the changes that the first one waited for.
  await sql`
    delete from mails where id = ${id} and exists (select 1 from notifications where id = ${id})`.execute(
    trx,
  )
}

/** Sending leaves no notification to find a repetition by, so each reference must be used only once. */
async function queueToStranger(trx: Database, id: string, mail: MailToQueue): Promise<void> {
  const { email, template, data, delaySeconds = 0 } = mail
  if (email === undefined) throw new Error('a mail to nobody')
  await sql`
    insert into mails (id, email, template, data, due_at)
    values (${id}, ${email.toLowerCase()}, ${template}, ${JSON.stringify(data)},
      now() + make_interval(secs => ${delaySeconds}))
    on conflict (id) do nothing`.execute(trx)
}

/**
 * Returns the id of a mail while it waits, of its notification and of its Message-ID: the same fact always gives the
 * same id.
 */
export function mailId(template: TemplateName, reference: string): string {
  const bytes = sha256(`mail ${template} ${reference}`).subarray(0, 16)
  // A UUID of version 8 (RFC 9562): the application defines how it is made.
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

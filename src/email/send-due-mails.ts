/**
 * Sends what waits in `mails`, on any number of nodes at once. Who sends one moves its time on first, so that
 * nobody else takes it meanwhile, and one whose sender was killed is due again some minutes later. What became
 * of it is recorded in the transaction that takes it out: a mail is never lost. One whose sender was killed
 * after the server took it and before that was recorded goes out twice, under the same Message-ID.
 */
import { sql } from 'kysely'
import { isCustomerDeleted } from '../customers/customers.ts'
import type { Database } from '../db/open.ts'
import type { Log } from '../lib/log.ts'
import { isMailAddress } from './mail-address.ts'
import type { MailData } from './mail-content.ts'
import type { MailSender } from './mail-sender.ts'
import type { DeliveryOutcome, Mailer, OutgoingMail } from './mailer.ts'
import { renderMail } from './render-mail.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

export interface SendDeps {
  readonly mailer: Mailer
  readonly sender: MailSender
  /** For the mails that nobody needs. */
  readonly unsubscribe?: UnsubscribeLinks
  readonly log: Log
}

/** As many go at once; a mailer has as many connections. */
const SENDERS = 3
/** No mail is begun after that. */
const RUN_MS_MAX = 5_000
/** Far longer than a delivery may take. */
const LEASE_MINUTES = 5
/** After the first try, the second, and so on: a day in all. */
const PAUSES_MINUTES = [1, 10, 60, 240, 1_080]
/** Of whoever is no customer and has none of their own. */
const DEFAULT_ZONE = 'America/Sao_Paulo'
const TRIES_MAX = PAUSES_MINUTES.length + 1

interface LeasedMail {
  readonly id: string
  readonly customer_id: string | null
  readonly address: string | null
  readonly template: string
  readonly data: MailData
  readonly tries: number
  readonly name: string
  readonly timezone: string
}

/** Returns how many were sent. Where the mail server is away the rest stays as it is, for the next run. */
export async function sendDueMails(db: Database, deps: SendDeps): Promise<number> {
  const until = Date.now() + RUN_MS_MAX
  let sent = 0
  let isServerAway = false
  const sendOnes = async (): Promise<void> => {
    while (!isServerAway && Date.now() < until) {
      const mail = await leaseMail(db)
      if (!mail) return
      const outcome = await tryMail(mail, deps)
      if (outcome.kind === 'delivered') sent += 1
      if (outcome.kind === 'unavailable' && outcome.isServerAway) isServerAway = true
      await conclude(db, mail, outcome, deps.log)
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: SENDERS }, sendOnes))
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed) throw failed.reason
  return sent
}

async function leaseMail(db: Database): Promise<LeasedMail | undefined> {
  const { rows } = await sql<LeasedMail>`
    with due as (
      select id, customer_id from mails where due_at <= now()
      order by due_at, id limit 1 for update skip locked
    )
    update mails m set due_at = now() + make_interval(mins => ${LEASE_MINUTES}::int), tries = m.tries + 1
    from due left join customers c on c.id = due.customer_id where m.id = due.id
    returning m.id, m.customer_id, coalesce(m.email, c.email) as address, m.template, m.data, m.tries,
      coalesce(c.name, '') as name, coalesce(c.timezone, ${DEFAULT_ZONE}) as timezone`.execute(db)
  return rows[0]
}

/** Whatever happens is an outcome: one that throws would be tried without end. */
async function tryMail(mail: LeasedMail, deps: SendDeps): Promise<DeliveryOutcome> {
  // Its senders were killed, or could not record what became of it.
  if (mail.tries > TRIES_MAX) return { kind: 'refused', error: 'gave_up' }
  if (mail.address === null) return { kind: 'refused', error: 'no_address' }
  if (!isMailAddress(mail.address)) return { kind: 'refused', error: 'invalid_address' }
  try {
    return await deps.mailer.deliver(compose(mail, mail.address, deps))
  } catch (error) {
    if (isCustomerDeleted(error)) return { kind: 'refused', error: 'no_address' }
    deps.log.error('mail_not_sent', { mailId: mail.id, template: mail.template, error })
    return { kind: 'unavailable', error: 'internal_error', isServerAway: false }
  }
}

function compose(mail: LeasedMail, to: string, { sender, unsubscribe }: SendDeps): OutgoingMail {
  const { id, customer_id: customerId, template, data } = mail
  const { name, timezone } = mail
  const reader = {
    name,
    timezone,
    unsubscribeUrl: customerId === null ? undefined : unsubscribe?.urlFor(customerId),
  }
  return { id, customerId, to, from: sender.from, ...renderMail(template, data, reader, sender) }
}

async function conclude(
  db: Database,
  mail: LeasedMail,
  outcome: DeliveryOutcome,
  log: Log,
): Promise<void> {
  if (outcome.kind === 'delivered') return record(db, mail, 'sent', null)
  const { error } = outcome
  const facts = { mailId: mail.id, template: mail.template, tries: mail.tries, reason: error }
  const pause = PAUSES_MINUTES[mail.tries - 1]
  if (outcome.kind === 'unavailable' && pause !== undefined) {
    log.warn('mail_delayed', { ...facts, minutes: pause })
    await sql`
      update mails set due_at = now() + make_interval(mins => ${pause}::int)
      where id = ${mail.id} and tries = ${mail.tries}`.execute(db)
    return
  }
  log.warn('mail_failed', facts)
  await record(db, mail, 'failed', error)
}

/** A failure counts only while nobody else tries it again; what was sent was sent. */
async function record(
  db: Database,
  mail: LeasedMail,
  status: 'sent' | 'failed',
  error: string | null,
): Promise<void> {
  try {
    await sql`
      with ended as (
        delete from mails where id = ${mail.id} and (tries = ${mail.tries} or ${status} = 'sent')
        returning id, customer_id, template
      )
      insert into notifications (id, customer_id, template, status, error)
      select id, customer_id, template, ${status}, ${error} from ended where customer_id is not null
      on conflict (id) do nothing`.execute(db)
  } catch (refused) {
    if (!isCustomerDeleted(refused)) throw refused
    // Of a deleted customer nothing is recorded any more.
    await sql`delete from mails where id = ${mail.id}`.execute(db)
  }
}

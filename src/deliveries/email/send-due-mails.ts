/**
 * Sends the mails that wait in `mails`, on any number of nodes at once. A mail is claimed for some minutes
 * before it is sent, and its outcome is recorded in the statement that deletes it, so no mail is lost. If a
 * worker is killed between the server's acceptance and that statement, the mail goes out twice, under the same
 * Message-ID.
 */
import { sql } from 'kysely'
import { isCustomerDeleted } from '../../customers/customers.ts'
import { claimDue, recordClaimed, type ClaimableRows } from '../../platform/db/due-rows.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import { createRunner } from '../create-runner.ts'
import { MAIL_RETRIES, pauseAfter } from '../retry-schedule.ts'
import { isMailAddress } from './mail-address.ts'
import type { MailData } from './mail-content.ts'
import type { MailSender } from './mail-sender.ts'
import type { DeliveryOutcome, Mailer, OutgoingMail } from './mailer.ts'
import { languageOf } from '../../platform/lib/language.ts'
import { renderMail } from './render-mail.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

export interface SendDeps {
  readonly mailer: Mailer
  readonly sender: MailSender
  /** The unsubscribe links of optional mails. */
  readonly unsubscribe?: UnsubscribeLinks
  readonly log: Log
}

/** Concurrent deliveries; a mailer has as many connections. */
const SLOTS = 3
/** A run starts no mail after this time. */
const RUN_MS_MAX = 5_000
/** Far longer than a delivery may take. */
const LEASE_MINUTES = 5
/** For recipients who are not customers and so have set no time zone. */
const DEFAULT_ZONE = 'America/Sao_Paulo'
const TRIES_MAX = MAIL_RETRIES.stepsMs.length + 1

interface LeasedMail {
  readonly id: string
  readonly customer_id: string | null
  readonly address: string | null
  readonly template: string
  readonly data: MailData
  readonly tries: number
  readonly name: string
  readonly timezone: string
  readonly locale: string
}

const DUE_MAILS: ClaimableRows = {
  table: 'mails',
  key: ['id'],
  isDue: sql`q.due_at <= now()`,
  orderBy: sql`q.due_at, q.id`,
  lease: sql`due_at = now() + make_interval(mins => ${LEASE_MINUTES}::int), tries = q.tries + 1`,
  columns: sql`q.id, q.customer_id, coalesce(q.email, c.email) as address, q.template, q.data, q.tries,
    coalesce(c.name, '') as name, coalesce(c.timezone, ${DEFAULT_ZONE}) as timezone,
    coalesce(r.preferred_locale, c.preferred_locale, q.data ->> 'locale', '') as locale`,
  columnsFrom: sql`left join customers c on c.id = q.customer_id
    left join customers r on lower(r.email) = q.email`,
}

/**
 * Returns the number of sent mails. While the mail server is unavailable, the remaining mails wait for the next
 * run.
 */
export async function sendDueMails(db: Database, deps: SendDeps): Promise<number> {
  const until = Date.now() + RUN_MS_MAX
  let sent = 0
  let isServerUnavailable = false
  const claim = async (limit: number): Promise<readonly LeasedMail[]> =>
    isServerUnavailable || Date.now() >= until ? [] : claimDue<LeasedMail>(db, DUE_MAILS, limit)
  const runner = createRunner<LeasedMail>({
    kind: 'mail',
    lanes: [{ slots: SLOTS, claim }],
    log: deps.log,
    async work(mail) {
      const outcome = await tryMail(mail, deps)
      if (outcome.kind === 'delivered') sent += 1
      if (outcome.kind === 'unavailable' && outcome.isServerUnavailable) isServerUnavailable = true
      await conclude(db, mail, outcome, deps.log)
    },
  })
  await runner.startDue().finally(() => runner.whenIdle())
  return sent
}

/** Every failure is an outcome: an unrecorded failure would be retried without end. */
async function tryMail(mail: LeasedMail, deps: SendDeps): Promise<DeliveryOutcome> {
  // The workers that sent it were killed, or could not record the outcome.
  if (mail.tries > TRIES_MAX) return { kind: 'refused', error: 'gave_up' }
  if (mail.address === null) return { kind: 'refused', error: 'no_address' }
  if (!isMailAddress(mail.address)) return { kind: 'refused', error: 'invalid_address' }
  try {
    return await deps.mailer.deliver(compose(mail, mail.address, deps))
  } catch (error) {
    if (isCustomerDeleted(error)) return { kind: 'refused', error: 'no_address' }
    deps.log.error('mail_not_sent', { mailId: mail.id, template: mail.template, error })
    return { kind: 'unavailable', error: 'internal_error', isServerUnavailable: false }
  }
}

function compose(mail: LeasedMail, to: string, { sender, unsubscribe }: SendDeps): OutgoingMail {
  const { id, customer_id: customerId, template, data } = mail
  const { name, timezone, locale } = mail
  const reader = {
    name,
    timezone,
    language: languageOf(locale),
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
  const pauseMs = pauseAfter(MAIL_RETRIES, { failures: mail.tries })
  if (outcome.kind === 'unavailable' && pauseMs !== undefined) {
    log.warn('mail_delayed', { ...facts, seconds: pauseMs / 1_000 })
    const set = sql`due_at = now() + make_interval(secs => ${pauseMs / 1_000})`
    await recordClaimed(db, DUE_MAILS, mail, { set })
    return
  }
  log.warn('mail_failed', facts)
  await record(db, mail, 'failed', error)
}

/** A failure counts only while no other worker has claimed the mail; a delivery always counts. */
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
    // Nothing is recorded about a deleted customer.
    await sql`delete from mails where id = ${mail.id}`.execute(db)
  }
}

import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { createSmtpMailer } from '../../../src/deliveries/email/create-smtp-mailer.ts'
import { SANDBOX_SENDER } from '../../../src/deliveries/email/mail-sender.ts'
import { mailId, queueMail } from '../../../src/deliveries/email/queue-mail.ts'
import { sendDueMails } from '../../../src/deliveries/email/send-due-mails.ts'
import { readSmtpUrl, type SmtpServer } from '../../../src/deliveries/email/smtp-url.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { headerOf } from '../../harness/mail-server.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { Act } from '../kill-between-steps.ts'
import { SILENT } from '../perform.ts'
import type { World } from '../world.ts'

interface Prepared {
  readonly customerId: string
  readonly ids: readonly string[]
  /** Mails that the mail server took but that were not recorded as sent; set by `recover`. */
  takenUnrecorded?: ReadonlySet<string>
}

/** More mails than are sent at once. */
const MAILS = 4

/** Each mail is sent once, or twice if the kill prevented its record. */
export const sendMailsAct: Act<Prepared> = {
  name: 'send-mails',
  stepsMin: MAILS * 4,

  async prepare({ db }) {
    const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
    await sql`
      update customers set email = ${`${customerId}@example.com`} where id = ${customerId}`.execute(
      db,
    )
    const references = Array.from({ length: MAILS }, createId)
    const mail = { customerId, template: 'recarga_confirmada', data: { amount_brl: '50' } } as const
    for (const reference of references) await queueMail(db, { ...mail, reference })
    return { customerId, ids: references.map((one) => mailId(mail.template, one)) }
  },

  async recover(world, prepared) {
    const { db, access } = world
    const recorded = await recordedOf(world, prepared)
    const taken = takenOf(world, prepared)
    for (const id of recorded) assert.ok(taken.includes(id), 'what is recorded was sent')
    prepared.takenUnrecorded = new Set(taken.filter((id) => !recorded.includes(id)))

    await sql`update mails set due_at = now()`.execute(db)
    const mailer = createSmtpMailer(readSmtpUrl(access.smtpUrl) as SmtpServer)
    await sendDueMails(db, { mailer, sender: SANDBOX_SENDER, log: SILENT })
    mailer.close()
    await world.untilQuiet()
  },

  async check(world, prepared) {
    const { ids, takenUnrecorded } = prepared
    const taken = takenOf(world, prepared)
    for (const id of ids) {
      const times = taken.filter((one) => one === id).length
      assert.equal(times, takenUnrecorded?.has(id) ? 2 : 1)
    }
    assert.deepEqual((await recordedOf(world, prepared)).toSorted(), ids.toSorted())
    const { rows } = await sql`select id from mails`.execute(world.db)
    assert.deepEqual(rows, [])
  },
}

/** The ids of the taken mails, read from the Message-ID, which stays the same when a mail is sent again. */
function takenOf({ mails }: World, { customerId }: Prepared): string[] {
  return mails.taken
    .filter(({ to }) => to[0] === `${customerId}@example.com`)
    .map(({ source }) => /^<(.+)@catraca\.example>$/.exec(headerOf(source, 'message-id') ?? ''))
    .map((found) => found?.[1] ?? assert.fail('a mail without its Message-ID'))
}

async function recordedOf({ db }: World, { customerId }: Prepared): Promise<string[]> {
  const rows = await db
    .selectFrom('notifications')
    .select(['id', 'status'])
    .where('customer_id', '=', customerId)
    .execute()
  assert.ok(rows.every(({ status }) => status === 'sent'))
  return rows.map(({ id }) => id)
}

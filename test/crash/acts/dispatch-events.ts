import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { mailId } from '../../../src/deliveries/email/queue-mail.ts'
import { queueMails } from '../../../src/deliveries/email/queue-mails.ts'
import { dispatchEvents } from '../../../src/platform/events/dispatch-events.ts'
import { recordEvent, type EventType } from '../../../src/platform/events/record-event.ts'
import { queueWebhooks } from '../../../src/deliveries/webhooks/queue-messages.ts'
import { seedWebhook } from '../../harness/webhook-receiver.ts'
import type { Act } from '../kill-between-steps.ts'
import { SILENT } from '../perform.ts'

/** The two events about keys become one mail. */
const TYPES: readonly EventType[] = ['topup.paid', 'key.created', 'key.created']

export const dispatchEventsAct: Act<{ readonly customerId: string }> = {
  name: 'dispatch-events',
  stepsMin: 20,

  async prepare({ db, receiver }) {
    const { customerId } = await seedWebhook(db, receiver.url)
    await seedWebhook(db, receiver.url, { customerId })
    const data = { id: 'x', method: 'pix', amount_brl: '20', name: 'Chave' }
    for (const type of TYPES) await recordEvent(db, { customerId, type, data })
    return { customerId }
  },

  async recover({ db }, { customerId }) {
    await sql`update events set due_at = now() where customer_id = ${customerId}`.execute(db)
    await dispatchEvents(db, [queueMails, queueWebhooks], SILENT)
  },

  async check({ db }, { customerId }) {
    const events = await db
      .selectFrom('events')
      .select(['id', 'type', 'dispatched_at'])
      .where('customer_id', '=', customerId)
      .execute()
    assert.ok(events.every(({ dispatched_at: at }) => at))
    const attempts = await db
      .selectFrom('webhook_attempts')
      .select(['message_id', 'endpoint_id'])
      .where('customer_id', '=', customerId)
      .execute()
    const each = attempts.map((one) => `${one.message_id} ${one.endpoint_id}`)
    assert.equal(each.length, TYPES.length * 2)
    assert.equal(new Set(each).size, each.length, 'each of them once for each endpoint')

    const mails = await db
      .selectFrom('mails')
      .select(['id', 'template', 'data'])
      .where('customer_id', '=', customerId)
      .orderBy('template')
      .execute()
    assert.deepEqual(
      mails.map(({ template, data }) => [template, data.others_count]),
      [
        ['chave_criada', 1],
        ['recarga_confirmada', undefined],
      ],
    )
    const paid = events.find(({ type }) => type === 'topup.paid')
    assert.equal(mails[1]?.id, mailId('recarga_confirmada', paid?.id ?? ''))
  },
}

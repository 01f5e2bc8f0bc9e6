import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { createId } from '../../../src/platform/lib/ids.ts'
import {
  attemptsOf,
  createDelivery,
  deliverAll,
  isSignedWith,
  seedWebhook,
  queueEvent,
} from '../../harness/webhook-receiver.ts'
import type { Act } from '../kill-between-steps.ts'
import type { World } from '../world.ts'

interface Endpoint {
  readonly id: string
  readonly path: string
  readonly secret: string
}

interface Prepared {
  readonly messageIds: readonly string[]
  readonly endpoints: readonly Endpoint[]
  /** Attempts that were received but not recorded; set by `recover`. */
  lost?: ReadonlySet<string>
}

const MESSAGES = 2

/**
 * Two endpoints, one of which refuses each message once. Each attempt arrives once, or twice if the kill prevented
 * its record; always signed, and with one `webhook-id` for each message.
 */
export const deliverWebhooksAct: Act<Prepared> = {
  name: 'deliver-webhooks',
  stepsMin: 20,

  async prepare(world) {
    const { db, receiver } = world
    const refused = new Set<string>()
    receiver.answer = (response, { path, headers }) => {
      const what = `${path} ${String(headers['webhook-id'])}`
      const isRefused = path.endsWith('/refuses') && !refused.has(what)
      refused.add(what)
      response.writeHead(isRefused ? 500 : 200).end('ok')
    }
    const place = `/${createId()}`
    const endpoints: Endpoint[] = []
    let customerId: string | undefined
    for (const path of [`${place}/takes`, `${place}/refuses`]) {
      const more = customerId === undefined ? {} : { customerId }
      const made = await seedWebhook(db, `${receiver.url}${path}`, more)
      customerId = made.customerId
      endpoints.push({ id: made.endpoint.id, path, secret: made.signingSecret })
    }
    const messageIds = []
    for (let n = 0; n < MESSAGES; n++) messageIds.push(await queueEvent(db, customerId as string))
    return { messageIds, endpoints }
  },

  async recover(world, prepared) {
    prepared.lost = await findLost(world, prepared)
    const { db } = world
    const delivery = createDelivery(db)
    for (;;) {
      const open = await sql`
        update webhook_attempts set due_at = least(due_at, now()),
          leased_until = case when status = 'running' then now() - interval '1 second' end
        where status in ('queued', 'running') returning 1`.execute(db)
      if (open.rows.length === 0) return
      await deliverAll(delivery)
    }
  },

  async check(world, { endpoints, messageIds, lost }) {
    for (const { id, path, secret } of endpoints) {
      const attempts = await attemptsOf(world.db, id)
      const received = receivedAt(world, path)
      for (const one of received) assert.ok(isSignedWith(secret, one))
      for (const messageId of messageIds) {
        const tries = attempts.filter((one) => one.message_id === messageId)
        const ends = tries.map(({ status }) => status)
        assert.deepEqual(ends, ends.length === 1 ? ['delivered'] : ['failed', 'delivered'])
      }
      for (const attempt of attempts) {
        const times = received.filter(({ headers }) => headers['x-svc-delivery-id'] === attempt.id)
        assert.equal(times.length, lost?.has(attempt.id) ? 2 : 1)
        assert.ok(times.every(({ headers }) => headers['webhook-id'] === attempt.message_id))
      }
    }
  },
}

async function findLost(world: World, { endpoints }: Prepared): Promise<Set<string>> {
  const lost = new Set<string>()
  for (const { id, path } of endpoints) {
    const received = receivedAt(world, path).map(({ headers }) => headers['x-svc-delivery-id'])
    for (const attempt of await attemptsOf(world.db, id)) {
      const isReceived = received.includes(attempt.id)
      if (attempt.finished_at) assert.ok(isReceived, 'what is recorded was sent')
      else if (isReceived) lost.add(attempt.id)
    }
  }
  return lost
}

function receivedAt({ receiver }: World, path: string) {
  return receiver.received.filter((one) => one.path === path)
}

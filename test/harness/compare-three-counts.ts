/** The three counts that must agree after any fault: answers of the upstream, answers at the clients, charges. */
import assert from 'node:assert/strict'
import type { Selectable } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import type { Tables } from '../../src/platform/db/tables.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import type { Received } from './load-clients.ts'

type UsageEvent = Selectable<Tables['usage_events']>

/**
 * A complete answer is charged once, with the amount that it shows; no call is charged twice; every charge belongs to a
 * call of the upstream, which answered it completely if the charge is exact.
 */
export async function compareThreeCounts(
  db: Database,
  {
    customerId,
    received,
    upstreamCalls,
  }: {
    customerId: string
    received: readonly Received[]
    /** By the id of the hold. */
    upstreamCalls: ReadonlyMap<string, { readonly completed: number }>
  },
): Promise<{
  readonly whole: readonly Received[]
  readonly charged: readonly UsageEvent[]
  readonly events: readonly UsageEvent[]
}> {
  const events = await db
    .selectFrom('usage_events')
    .selectAll()
    .where('customer_id', '=', customerId)
    .execute()
  const byRequest = Map.groupBy(events, (event) => event.request_id)
  const whole = received.filter((each) => each.isWhole)
  for (const each of whole) {
    const found = byRequest.get(each.requestId) ?? []
    assert.equal(found.length, 1, `an answer received whole has ${found.length} events`)
    assert.equal(found[0]?.outcome, 'charged')
    assert.equal(
      found[0]?.cost_billed_nano_brl,
      parseBrl(each.costBilledBrl as string),
      'the answer names its charge',
    )
  }
  // A call may hold twice (its key was stale, its prompt was counted), but it is never charged twice.
  for (const [requestId, found] of byRequest) {
    assert.ok(
      found.filter((event) => event.outcome === 'charged').length <= 1,
      `${requestId} is charged twice`,
    )
  }
  const charged = events.filter((event) => event.outcome === 'charged')
  for (const event of charged) {
    const call = upstreamCalls.get(event.id)
    assert.ok(call, 'what is charged was asked of the upstream')
    if (event.usage_kind === 'exact')
      assert.ok(call.completed, 'what is charged exactly was answered whole')
  }
  assert.ok(charged.length >= whole.length)
  return { whole, charged, events }
}

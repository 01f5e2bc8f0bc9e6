import assert from 'node:assert/strict'
import { mkdtemp, readdir, rename, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { audit } from '../../../src/money/ledger/audit/audit.ts'
import { openDeliveryNotes } from '../../../src/money/ledger/deliveries/delivery-notes.ts'
import { DELIVERY_CHECKS } from '../../../src/money/ledger/deliveries/discrepancies.ts'
import { findLostDeliveries } from '../../../src/money/ledger/deliveries/find-lost-deliveries.ts'
import { pruneKeptNotes } from '../../../src/money/ledger/deliveries/keep-notes.ts'
import { verifyDeliveries } from '../../../src/money/ledger/deliveries/verify-deliveries.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { createTestDatabase, seedCustomer } from '../../harness/test-database.ts'
import { openTestLedger } from '../../harness/open-test-ledger.ts'
import { recordEvents } from '../spool/spool-rows.ts'

const database = await createTestDatabase()
const ledger = await openTestLedger(database.db, database.databaseUrl)
after(async () => {
  await ledger.ledger.close()
  await database.drop()
})
const { key } = await seedCustomer(database.db, { balanceBrl: '100' })
const [CHECK] = Object.keys(DELIVERY_CHECKS)

test('answers that are charged the amount that they show leave no discrepancy', async () => {
  const { dir, verify, note } = await openMachine()
  const calls = await Promise.all(Array.from({ length: 2_500 }, () => charged(1)))
  await note(calls.map(({ id, billed }) => [id, billed]))
  assert.deepEqual(await verify(60), { compared: 0, discrepancies: 0, waiting: 0 })
  assert.deepEqual(await verify(91), { compared: 2_500, discrepancies: 0, waiting: 0 })
  assert.deepEqual(await readdir(dir), [])
  assert.deepEqual(await breaches(), [])
})

test('a delivered answer without a charge, or with a charge other than it shows, raises one alarm, and a correction resolves it', async () => {
  const { dir, verify, note, events } = await openMachine()
  const [absent, whole] = [createId(), await charged(2)]
  const released = ledger.attempt(key, 3)
  await ledger.ledger.hold(released)
  await ledger.ledger.resolve({
    ...ledger.charge(released, 0),
    outcome: 'released',
    usageKind: 'none',
    isFinal: false,
  })
  const late = ledger.charge(released, 3)
  await note([
    [absent, 5n],
    [whole.id, whole.billed],
    [released.id, late.billedNanoBrl],
  ])
  assert.deepEqual(await verify(91), { compared: 3, discrepancies: 2, waiting: 0 })
  assert.deepEqual(await readdir(dir), [])
  assert.deepEqual((await breaches()).toSorted(), [absent, released.id].toSorted())
  assert.equal(events.filter((event) => event === 'delivery_discrepancy_found').length, 2)

  const resolved = await ledger.ledger.resolve({ ...late, isFinal: true })
  assert.equal(resolved.kind, 'corrected')
  await verify(91)
  assert.deepEqual(await breaches(), [absent])
  assert.equal(events.filter((event) => event === 'delivery_discrepancy_found').length, 2)
  await database.db.deleteFrom('delivery_discrepancies').execute()
})

test('compared notes are kept for their hours, and name the answers that a restored ledger lacks', async () => {
  const { dir, kept, verify, note } = await openMachine()
  // As if the ledger had been restored to a moment before the charge of one, and before the hold of another.
  const [whole, absent, open] = [await charged(1), createId(), ledger.attempt(key, 3)]
  await note([
    [whole.id, whole.billed],
    [absent, 5n],
  ])
  await verify(91)
  await database.db.deleteFrom('delivery_discrepancies').execute()
  assert.deepEqual(await readdir(dir), [])
  assert.equal((await readdir(kept.dir)).length, 1)
  await ledger.ledger.hold(open)
  await note([[open.id, 7n]], createId())
  const check = (since?: Date) => findLostDeliveries(database.db, [dir, kept.dir], since)
  const { compared, unreadable, lost } = await check()
  assert.deepEqual([compared, unreadable], [3, 0])
  assert.deepEqual(
    new Set(
      lost.map(({ holdId, state, deliveredNanoBrl }) => `${holdId} ${state} ${deliveredNanoBrl}`),
    ),
    new Set([`${absent} absent 5`, `${open.id} open 7`]),
  )
  assert.deepEqual((await check(new Date(Date.now() + 60_000))).lost, [])
  await ledger.ledger.resolve(ledger.charge(open, 3))
  const { lost: later } = await check()
  assert.deepEqual(
    later.filter(({ state }) => state === 'differs').map(({ holdId }) => holdId),
    [open.id],
  )
  await verify(1_000)
  await database.db.deleteFrom('delivery_discrepancies').execute()
  await verify(3_500)
  assert.equal((await readdir(kept.dir)).length, 2)
  await verify(3_700)
  assert.deepEqual(await readdir(kept.dir), [])
})

test('of too many kept notes the oldest go first', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'kept-'))
  for (const [place, name] of ['old', 'middle', 'new'].entries()) {
    await writeFile(join(dir, name), Buffer.alloc(64))
    await utimes(join(dir, name), 1_000 + place, 1_000 + place)
  }
  await pruneKeptNotes({ dir, hours: 1 }, 1_010_000, 150)
  assert.deepEqual((await readdir(dir)).toSorted(), ['middle', 'new'])
})

test('an answer whose hold is open, or whose charge waits in a spool, is no discrepancy for ten minutes', async () => {
  const spooled = new Set<string>()
  const { dir, verify, note } = await openMachine(spooled)
  const open = ledger.attempt(key, 3)
  await ledger.ledger.hold(open)
  const inSpool = createId()
  spooled.add(inSpool)
  await note([
    [open.id, 30_000n],
    [inSpool, 1n],
  ])
  assert.deepEqual(await verify(91), { compared: 2, discrepancies: 0, waiting: 2 })
  assert.deepEqual(await verify(599), { compared: 2, discrepancies: 0, waiting: 2 })
  assert.equal((await readdir(dir)).length, 1)
  assert.deepEqual(await verify(700), { compared: 2, discrepancies: 2, waiting: 0 })
  assert.deepEqual((await breaches()).toSorted(), [open.id, inSpool].toSorted())
  assert.deepEqual(await readdir(dir), [])
  await ledger.ledger.resolve(ledger.charge(open, 3))
  await verify(0)
  assert.deepEqual(await breaches(), [inSpool])
})

test('the notes of a dead process are compared too', async () => {
  const { dir, verify, note } = await openMachine()
  const { id, billed } = await charged(1)
  await note([[id, billed + 1n]])
  const [name] = await readdir(dir)
  const left = (name as string).replace(/^[0-9.]+/, '999999999.1').replace(/done$/, 'writing')
  await rename(join(dir, name as string), join(dir, left))
  assert.deepEqual(await verify(91), { compared: 1, discrepancies: 1, waiting: 0 })
  assert.deepEqual(await readdir(dir), [])
})

async function charged(tokens: number): Promise<{ id: string; billed: bigint }> {
  const attempt = ledger.attempt(key, tokens)
  const verdict = await ledger.ledger.hold(attempt)
  assert.equal(verdict.kind, 'held')
  const charge = ledger.charge(attempt, tokens)
  await ledger.ledger.resolve(charge)
  return { id: attempt.id, billed: charge.billedNanoBrl }
}

async function breaches(): Promise<string[]> {
  const { checks } = await audit(database.db, DELIVERY_CHECKS)
  const check = checks.find(({ name }) => name === CHECK)
  assert.ok(check)
  return check.breaches.map((row) => (row as { hold_id: string }).hold_id)
}

async function openMachine(spooled: ReadonlySet<string> = new Set()) {
  const dir = await mkdtemp(join(tmpdir(), 'catraca-notes-'))
  const { log, events } = recordEvents()
  const kept = { dir: join(await mkdtemp(join(tmpdir(), 'kept-')), 'kept'), hours: 1 }
  return {
    dir,
    kept,
    events,
    note: async (
      given: readonly (readonly [string, bigint])[],
      nodeId = ledger.nodeId,
    ): Promise<void> => {
      const notes = await openDeliveryNotes({ dir, nodeId, log })
      for (const [id, billed] of given) notes.note(id, billed)
      await notes.close()
    },
    verify: (seconds: number) =>
      verifyDeliveries({
        db: database.db,
        dir,
        log,
        isSpooled: (id) => spooled.has(id),
        kept,
        nowMs: Date.now() + seconds * 1_000,
      }),
  }
}

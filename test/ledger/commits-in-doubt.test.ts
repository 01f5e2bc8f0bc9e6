// deep: an attack
/** Attacks on the moments in which a node does not know whether its charge was committed. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import type { LeaseView } from '../../src/money/ledger/lease.ts'
import { findPromotionalLeft, grantPromotion } from '../../src/money/ledger/promotions.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { changeApiKey } from '../../src/customers/change-api-key.ts'
import {
  createTestDatabase,
  seedCustomer,
  withClient,
  type TestDatabase,
} from '../harness/test-database.ts'
import {
  heldLease,
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  runningCall,
  worth,
} from '../harness/open-test-ledger.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

async function assertAuditClean(): Promise<void> {
  const { checks } = await audit(database.db)
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  )
}

async function charged(customerId: string): Promise<bigint> {
  return (await findAccount(database.db, customerId))?.chargedNanoBrl ?? -1n
}

/** Keeps the account locked until the returned function releases it. */
async function lockAccount(customerId: string): Promise<{ letGo(): void; gone: Promise<void> }> {
  let letGo = (): void => {}
  const held = new Promise<void>((resolve) => (letGo = resolve))
  let locked = (): void => {}
  const isLocked = new Promise<void>((resolve) => (locked = resolve))
  const gone = withClient(database.databaseUrl, async (client) => {
    await client.query('begin')
    await client.query('select 1 from accounts where customer_id = $1 for update', [customerId])
    locked()
    await held
    await client.query('commit')
  })
  await isLocked
  return { letGo, gone }
}

test('A1 a delivered answer stays charged when the lease expires while the spool is written', async () => {
  const { db, databaseUrl } = database
  const { customerId, key } = await seedCustomer(db, { balanceBrl: worth(100) })
  const asked = { count: 0 }
  const nodeId = createId()
  const lease: LeaseView = {
    ...heldLease(nodeId),
    // The lease is valid when the append begins and has expired when it ends; then it is renewed, as after an
    // outage shorter than the fence.
    isHeld: () => ++asked.count === 1,
  }
  const { ledger, attempt, charge } = await openTestLedger(db, databaseUrl, { lease })
  try {
    const hold = attempt(key, 10)
    assert.equal((await ledger.hold(hold)).kind, 'held')
    const lock = await lockAccount(customerId)
    const resolving = ledger.resolve(charge(hold, 10), { ...runningCall, isHoldDurable: true })
    while (asked.count < 2) await sleep(20)
    lock.letGo()
    await lock.gone
    const resolved = await resolving
    for (; ledger.spoolLength > 0; await sleep(50)) await ledger.replaySpool()
    await assertAuditClean()
    // serve-call.ts delivers on `committed`, and refuses on `unavailable`.
    const isDelivered = resolved.kind === 'committed'
    assert.ok(isDelivered || resolved.kind === 'unavailable')
    assert.equal(await charged(customerId), isDelivered ? 10n * NANO_BRL_PER_TOKEN : 0n)
  } finally {
    await ledger.close()
  }
})

/** Forwards to the database; can drop the database's answers, and later refuse all connections. */
async function startDroppingProxy(databaseUrl: string): Promise<{
  url: string
  dropAnswers(): void
  refuse(): void
  heal(): void
  close(): void
}> {
  const url = new URL(databaseUrl.replace(/@\//, '@placeholder/'))
  const target = url.searchParams.has('host')
    ? { path: `${url.searchParams.get('host')}/.s.PGSQL.${url.port || '5432'}` }
    : { host: url.hostname, port: Number(url.port || '5432') }
  let dropsAnswers = false
  let refuses = false
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    if (refuses) return void near.destroy()
    const far = connect(target as never)
    for (const end of [near, far]) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => (near.destroy(), far.destroy()))
    }
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes) => void (dropsAnswers || near.write(bytes)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    dropAnswers: () => (dropsAnswers = true),
    refuse: () => (refuses = true),
    heal: () => {
      dropsAnswers = false
      refuses = false
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

test('A2 a refused answer whose charge is in doubt is not charged', async () => {
  const { db, databaseUrl } = database
  const { customerId, key } = await seedCustomer(db, { balanceBrl: worth(100) })
  const proxy = await startDroppingProxy(databaseUrl)
  const { ledger, attempt, charge, nodeId } = await openTestLedger(db, databaseUrl, {
    ledgerUrl: proxy.url,
  })
  try {
    const hold = attempt(key, 10)
    assert.equal((await ledger.hold(hold)).kind, 'held')
    // A plain call that was answered within 100 ms has no checkpoint. The network is cut while its charge is
    // committed.
    proxy.dropAnswers()
    const resolving = ledger.resolve(charge(hold, 10), { ...runningCall, isHoldDurable: false })
    // Committed, though no answer comes through.
    for (let isCommitted = false; !isCommitted; await sleep(20))
      isCommitted = (await charged(customerId)) > 0n
    proxy.refuse()
    const resolved = await resolving
    // serve-call.ts answers 503.
    assert.equal(resolved.kind, 'unavailable')
    proxy.heal()
    for (; ledger.spoolLength > 0; await sleep(50)) await ledger.replaySpool()
    // The other nodes fence the node; there is no hold left to resolve.
    await db
      .updateTable('nodes')
      .set({ fenced_at: new Date() } as never)
      .where('id', '=', nodeId)
      .execute()
    await assertAuditClean()
    assert.equal(await charged(customerId), 0n, 'charged, and not delivered')
  } finally {
    proxy.close()
    await ledger.close()
  }
})

test('A3 the money that a customer paid stays refundable when a charge is reversed', async () => {
  const { db, databaseUrl } = database
  const { customerId, key } = await seedCustomer(db, { balanceBrl: worth(100) })
  const { ledger, attempt, charge } = await openTestLedger(db, databaseUrl)
  try {
    const hold = attempt(key, 60)
    assert.equal((await ledger.hold(hold)).kind, 'held')
    // Another node's estimate.
    assert.equal((await ledger.resolve(charge(hold, 60))).kind, 'committed')
    await grantPromotion(db, {
      customerId,
      amountNanoBrl: 10n * NANO_BRL_PER_TOKEN,
      reason: 'promotion',
      reference: createId(),
    })
    // The node that ran the call comes back: it delivered nothing.
    const truth = { ...release(hold, 'lease_lapsed'), isFinal: true }
    assert.equal((await ledger.resolve(truth)).kind, 'corrected')
    await assertAuditClean()
    assert.equal(
      (await findPromotionalLeft(db, customerId)) / NANO_BRL_PER_TOKEN,
      10n,
      'more is promotional than was ever granted: paid money that cannot be refunded',
    )
  } finally {
    await ledger.close()
  }
})

test('A4 the correction of an older charge does not enlarge a budget that was set later', async () => {
  const { db, databaseUrl } = database
  const usd = (tokens: number): bigint => BigInt(tokens) * 2_000_000n
  const { customerId, key } = await seedCustomer(db, {
    balanceBrl: worth(1_000),
    budget: { limitPicoUsd: usd(100), period: 'lifetime' },
  } as never)
  const { ledger, attempt, charge } = await openTestLedger(db, databaseUrl)
  try {
    const hold = attempt(key, 60)
    assert.equal((await ledger.hold(hold)).kind, 'held')
    assert.equal((await ledger.resolve(charge(hold, 60))).kind, 'committed')
    await changeApiKey(db, customerId, key.id, { budget: null })
    const changed = await changeApiKey(db, customerId, key.id, {
      budget: { limitPicoUsd: usd(100), period: 'lifetime' },
    })
    assert.equal(changed.kind, 'changed')
    const truth = { ...release(hold, 'lease_lapsed'), isFinal: true }
    assert.equal((await ledger.resolve(truth)).kind, 'corrected')
    const fresh = { ...key, ...(changed as { key: typeof key }).key }
    const next = await ledger.hold(attempt(fresh, 160))
    await assertAuditClean()
    assert.equal(next.kind, 'short_budget', 'a budget of 100 tokens let 160 through')
  } finally {
    await ledger.close()
  }
})

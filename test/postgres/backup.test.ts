// deep: servers of PostgreSQL that fail
/**
 * A backup under load, restored into new data folders: whole, and to a moment by archived WAL. Each ledger is sound, and
 * the notes on the disk of the old node name every answer that was delivered after its moment.
 */
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbedded, type EmbeddedPostgres } from '../../src/platform/db/embedded.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { startLoadClients, type Received } from '../harness/load-clients.ts'
import { memoryFolder } from '../harness/memory-folder.ts'
import { runCli, type RanCli } from '../harness/run-cli.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { creditByHand } from '../../src/money/ledger/credit-by-hand.ts'
import { seedCustomer, withClient } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'

interface Charge {
  readonly id: string
  readonly requestId: string
  readonly createdAt: Date
  readonly billed: string
}

let folder: string
let backup: string
let wal: string
/** Of the old server, at its end. */
let charges: Charge[]
let received: Received[]
let point: Date
/** Calls whose whole answer a client had before the backup began, and before the moment. */
let answeredBeforeBackup: Set<string>
let answeredBeforePoint: Set<string>

const dataDirOf = (name: string): string => join(folder, name)
const cli = (name: string, args: readonly string[]): Promise<RanCli> =>
  runCli([...args, '--json'], { DATA_DIR: dataDirOf(name) })

before(async () => {
  folder = await mkdtemp(join(memoryFolder(), 'catraca-backup-'))
  // The database's account is not root.
  await chmod(folder, 0o755)
  backup = join(folder, 'backup')
  wal = join(folder, 'wal')
  await mkdir(wal)
  await chmod(wal, 0o777)
  await archiveTo(wal)
  const database = await open('old')
  const node = await startTestNode({ databaseUrl: '', dataDir: dataDirOf('old') })
  const { db, close } = openDatabase(database.databaseUrl, { onError: () => {} })
  const { secret, customerId } = await seedCustomer(db, { balanceBrl: '0' })
  // The full audit proves each credit from its cause.
  await creditByHand(db, OPERATOR, {
    customerId,
    amountNanoBrl: 1_000_000_000_000n,
    reason: 'goodwill',
    reference: 'backup',
  })
  const clients = startLoadClients({
    count: 3,
    baseUrls: () => [node.baseUrl],
    secret,
    // The second one runs for seconds: at each moment there are calls under way.
    calls: ['sandbox-chat', 'sandbox-long'],
  })
  const untilMore = async (count: number): Promise<void> => {
    for (const from = clients.wholeSoFar; clients.wholeSoFar < from + count;) await sleep(20)
  }
  await untilMore(10)
  answeredBeforeBackup = wholeOf(clients.soFar)
  const made = await cli('old', ['backup', backup])
  assert.equal(made.code, 0, made.stderr)
  await untilMore(15)
  answeredBeforePoint = wholeOf(clients.soFar)
  point = new Date()
  await untilMore(15)
  received = await clients.stop()
  await node.stop()
  charges = await readCharges(database)
  await archiveRest(database)
  await close()
  await database.stop()
})

after(() => rm(folder, { recursive: true, force: true }))

function open(name: string): Promise<EmbeddedPostgres> {
  return startEmbedded({ dataDir: dataDirOf(name), log: () => {} })
}

async function archiveTo(dir: string): Promise<void> {
  const database = await open('old')
  await withClient(database.databaseUrl, async (client) => {
    await client.query('alter system set archive_mode = on')
    await client.query(`alter system set archive_command = 'cp %p ${dir}/%f'`)
  })
  await database.stop()
}

async function archiveRest({ databaseUrl }: EmbeddedPostgres): Promise<void> {
  await withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      'select pg_walfile_name(pg_switch_wal()) as name',
    )
    for (const deadline = Date.now() + 60_000; ; await sleep(50)) {
      const { rows: archived } = await client.query(
        'select 1 from pg_stat_archiver where last_archived_wal >= $1',
        [rows[0]?.name],
      )
      if (archived.length === 1) return
      assert.ok(Date.now() < deadline, 'the WAL is not archived')
    }
  })
}

async function readCharges({ databaseUrl }: EmbeddedPostgres): Promise<Charge[]> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<Charge>(
      `select id, request_id as "requestId", created_at as "createdAt", cost_billed_nano_brl::text as billed
      from usage_events where outcome = 'charged'`,
    )
    return rows
  })
}

/** Starts a server on a restored data folder, waits until it has resolved what was open, and looks at it. */
async function lookAt(name: string): Promise<{ charges: Charge[]; lost: Set<string> }> {
  const database = await open(name)
  const node: TestNode = await startTestNode({ databaseUrl: '', dataDir: dataDirOf(name) })
  await withClient(database.databaseUrl, async (client) => {
    for (const deadline = Date.now() + 120_000; ; await sleep(200)) {
      const { rows } = await client.query('select 1 from holds limit 1')
      if (rows.length === 0) return
      assert.ok(Date.now() < deadline, 'a hold of the restored ledger stays open')
    }
  })
  const audited = await cli(name, ['audit', '--full'])
  assert.equal(audited.code, 0, audited.stdout)
  const checked = await cli(name, ['restore-check', dataDirOf('old')])
  const { lost } = JSON.parse(checked.stdout) as { lost: { hold_id: string }[] }
  assert.equal(checked.code, lost.length > 0 ? 1 : 0, checked.stderr)
  const restored = await readCharges(database)
  await node.stop()
  const settings = await withClient(database.databaseUrl, (client) =>
    client.query<{ archive_mode: string }>('show archive_mode'),
  )
  // Otherwise its WAL would take the names of the archived WAL.
  assert.equal(settings.rows[0]?.archive_mode, 'off')
  await database.stop()
  return { charges: restored, lost: new Set(lost.map(({ hold_id }) => hold_id)) }
}

function wholeOf(answers: readonly Received[]): Set<string> {
  return new Set(answers.filter(({ isWhole }) => isWhole).map(({ requestId }) => requestId))
}

/** Every answer that a client has whole is charged with its amount, or named. */
function assertNamed(
  restored: Awaited<ReturnType<typeof lookAt>>,
  answeredBefore: ReadonlySet<string>,
  moment: Date,
): void {
  const stored = new Map(restored.charges.map(({ id, billed }) => [id, billed]))
  const whole = wholeOf(received)
  const delivered = charges.filter(({ requestId }) => whole.has(requestId))
  assert.ok(delivered.length >= 40)
  for (const { id, requestId, billed, createdAt } of delivered) {
    assert.equal(restored.lost.has(id), stored.get(id) !== billed, id)
    // A client has its answer after the commit; the time of a charge is not after its commit.
    if (answeredBefore.has(requestId)) assert.ok(!restored.lost.has(id), id)
    if (createdAt.getTime() > moment.getTime() + 1_000) assert.ok(restored.lost.has(id), id)
  }
  const known = new Set(charges.map(({ id }) => id))
  for (const id of restored.lost) assert.ok(known.has(id), `${id} was never charged`)
}

// Each waits for a lease after its start.
describe('restored', { concurrency: true }, () => {
  test('a backup under load restores to its end: the audit is clean, and later answers are named', async () => {
    const restored = await cli('whole', ['restore', backup])
    assert.equal(restored.code, 0, restored.stderr)
    const { restored_until: end } = JSON.parse(restored.stdout) as { restored_until: string }
    const whole = await lookAt('whole')
    assert.ok(whole.lost.size >= 30)
    assertNamed(whole, answeredBeforeBackup, new Date(end))
  })

  test('with archived WAL it restores to a moment after it, and only answers after that moment are named', async () => {
    const args = ['restore', backup, '--wal', wal, '--until', point.toISOString()]
    const restored = await cli('moment', args)
    assert.equal(restored.code, 0, restored.stderr)
    const moment = await lookAt('moment')
    assert.ok(moment.lost.size >= 15)
    assertNamed(moment, answeredBeforePoint, point)
  })
})

test('neither a damaged backup nor a data folder with a database is written over', async () => {
  const again = await cli('old', ['restore', backup])
  assert.equal(again.code, 2)
  assert.match(again.stderr, /has a database/)
  const exists = await cli('old', ['backup', backup])
  assert.equal(exists.code, 2)
  assert.match(exists.stderr, /exists already/)
  const file = join(backup, 'cluster/PG_VERSION')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('1', '2'))
  const damaged = await cli('none', ['restore', backup])
  assert.equal(damaged.code, 2)
  assert.match(damaged.stderr, /cluster\/PG_VERSION of the backup is not as it was written/)
  await writeFile(file, text)
  const early = await cli('none', ['restore', backup, '--wal', wal, '--until', '2020-01-01T00:00Z'])
  assert.match(early.stderr, /--until: this backup ended at/)
})

// deep: servers of PostgreSQL that fail
/** Replicas that answer, keep up and take no writes, and are nevertheless not replicas of this database. */
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { openDatabase } from '../../src/platform/db/open.ts'
import {
  openReadReplicas,
  type ReadReplicas,
} from '../../src/platform/db/replicas/open-read-replicas.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { startDatabasePair, type DatabasePair } from '../harness/database-pair.ts'
import { memoryFolder } from '../harness/memory-folder.ts'
import { urlOf, withClient } from '../harness/test-database.ts'

const WAIT_MS_MAX = 30_000

let folder: string
let pair: DatabasePair

before(async () => {
  folder = await mkdtemp(join(memoryFolder(), 'catraca-wrong-replicas-'))
  // The database's account is not root.
  await chmod(folder, 0o755)
  pair = await startDatabasePair(folder, { isSynchronous: false })
})

after(async () => {
  await pair?.close()
  await rm(folder, { recursive: true, force: true })
})

test('another database of the same cluster is not read', async () => {
  await onPrimary('create database staging')
  const staging = urlOf(pair.standby.databaseUrl, 'staging')
  await until('staging is not on the replica', () =>
    withClient(staging, async () => true as const).catch(() => undefined),
  )
  await withReplicas(pair.primary.databaseUrl, staging, async (replicas) => {
    assert.equal(await settle(replicas), 'other_system')
    assert.equal(await replicas.pick(), undefined)
  })
})

test('a replica that has changes which the primary lost in a fail-over is not read', async () => {
  const behind = await onPrimary('select pg_current_wal_flush_lsn()::text as position')
  const aheadUrl = pair.standby.databaseUrl
  await onPrimary('create table lost as select 1 as n')
  await until('the table is not on the replica', () =>
    withClient(aheadUrl, (client) => client.query('select from lost')).catch(() => undefined),
  )
  // To a node, the new primary is one with the old name and an earlier position.
  const primary = openDatabase(pair.primary.databaseUrl, { onError: () => {} })
  const { rows } = behind as { rows: { position: string }[] }
  const standIn = standInFor(primary.pool, rows[0]?.position ?? '')
  const replicas = openReadReplicas(aheadUrl, {
    primary: standIn,
    ageMsMax: 30_000,
    log: createLog('silent', () => {}),
  })
  assert.equal(await settle(replicas), 'other_system')
  assert.equal(await replicas.pick(), undefined)
  await replicas.close()
  await primary.close()
})

test('a request does not wait until a frozen replica is found lost', async () => {
  await withReplicas(pair.primary.databaseUrl, pair.standby.databaseUrl, async (replicas) => {
    await until('no replica is read', () => replicas.pick())
    pair.standby.freeze()
    try {
      assert.equal(await replicas.pick(), undefined)
      assert.equal(replicas.list()[0]?.trouble, undefined)
    } finally {
      pair.standby.thaw()
    }
    await until('no replica is read again', () => replicas.pick())
  })
})

test('a replica that was promoted since the last look is not read', async () => {
  await withReplicas(pair.primary.databaseUrl, pair.standby.databaseUrl, async (replicas) => {
    await until('no replica is read', () => replicas.pick())
    // So that the next request comes before the next look.
    await pair.promote()
    assert.equal(await replicas.pick(), undefined)
    assert.equal(replicas.list()[0]?.trouble, 'takes_writes')
  })
})

/** The pool of a primary that is at an earlier position. */
function standInFor(
  pool: ReturnType<typeof openDatabase>['pool'],
  position: string,
): ReturnType<typeof openDatabase>['pool'] {
  return new Proxy(pool, {
    get(target, name) {
      if (name !== 'connect') return Reflect.get(target, name) as unknown
      return async () => {
        const client = await target.connect()
        return {
          query: (text: string, values: unknown[]) =>
            client.query(
              text.replace('pg_current_wal_flush_lsn()', `'${position}'::pg_lsn`),
              values,
            ),
          release: () => client.release(),
        }
      }
    },
  })
}

const onPrimary = (text: string) =>
  withClient(pair.primary.databaseUrl, (client) => client.query(text))

async function withReplicas(
  databaseUrl: string,
  readUrl: string,
  work: (replicas: ReadReplicas) => Promise<void>,
): Promise<void> {
  const primary = openDatabase(databaseUrl, { onError: () => {} })
  const replicas = openReadReplicas(readUrl, {
    primary: primary.pool,
    ageMsMax: 30_000,
    log: createLog('silent', () => {}),
  })
  try {
    await sql`select 1`.execute(primary.db)
    await work(replicas)
  } finally {
    await replicas.close()
    await primary.close()
  }
}

/** The trouble of the only replica once it is not that of the start; undefined if it is read. */
async function settle(replicas: ReadReplicas): Promise<string | undefined> {
  await until('the replica stays in its start', async () =>
    replicas.list()[0]?.trouble === 'starting' ? undefined : true,
  )
  // The primary is asked once more after the replica.
  for (let picks = 0; picks < 3; picks++) await replicas.pick()
  await until('the replica has no trouble', async () =>
    replicas.list()[0]?.trouble === 'other_system' ? true : undefined,
  )
  return replicas.list()[0]?.trouble
}

async function until<Found>(
  otherwise: string,
  find: () => Promise<Found | undefined>,
): Promise<Found> {
  for (const deadline = Date.now() + WAIT_MS_MAX; Date.now() < deadline; await sleep(20)) {
    const found = await find()
    if (found !== undefined) return found
  }
  throw new Error(otherwise)
}

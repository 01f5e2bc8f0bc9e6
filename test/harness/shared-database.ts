/**
 * The PostgreSQL of a run of the tests, reached as operators reach theirs: `TEST_DATABASE_THROUGH` is `pgbouncer` (of
 * this machine, in transaction mode), `pooler` (our own), `tls` (a certificate is demanded, and proved in full),
 * `standby` (each commit waits for a synchronous one), `replica` (heavy reads go there), or `oldest`: the oldest
 * PostgreSQL that is promised, from the npm registry.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { runAs } from '../../src/platform/db/embedded-users.ts'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { packageName } from '../../src/platform/db/embedded-binaries.ts'
import { withParameter } from '../../src/platform/db/database-address.ts'
import { startPgBouncer } from './real-pgbouncer.ts'
import { makeStandby, waitForStandby } from './standby.ts'

export const WAYS = ['pgbouncer', 'pooler', 'tls', 'standby', 'replica', 'oldest'] as const

export interface SharedDatabase {
  /** For the tests' own processes: without the pooler, for the tests that create databases. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** `migrate` refuses anything older than 15. */
const OLDEST_VERSION = '15.18.0-beta.17'
/**
 * Tests that crash a database start a separate one, on the disk. A database lives for seconds here: the vacuum, every ten
 * seconds in each of them, would find nothing.
 */
const IN_MEMORY = {
  fsync: 'off',
  full_page_writes: 'off',
  max_wal_size: '256MB',
  autovacuum_naptime: '1min',
}

export async function startSharedDatabase(
  folder: string,
  way: string | undefined,
): Promise<SharedDatabase> {
  if (way !== undefined && !(WAYS as readonly string[]).includes(way))
    throw new Error(`no TEST_DATABASE_THROUGH "${way}"; there are ${WAYS.join(', ')}`)
  const certificate = way === 'tls' ? await makeCertificate(join(folder, 'tls')) : undefined
  const packageFolder = way === 'oldest' ? { packageFolder: installOldest() } : {}
  const start = (name: string, settings: Readonly<Record<string, string>> = {}) =>
    startEmbedded({
      dataDir: join(folder, name),
      log: () => {},
      settings: { ...IN_MEMORY, ...settings },
      ...packageFolder,
    })
  const tls = certificate && {
    ssl: 'on',
    ssl_cert_file: certificate.cert,
    ssl_key_file: certificate.key,
  }
  const database = await start('database', tls)
  const { databaseUrl } = database
  // The setting came with PostgreSQL 16.
  if (way !== 'oldest') await hashPasswordOnce(databaseUrl)
  const environment: Record<string, string> = { TEST_DATABASE_URL: databaseUrl }
  const stops = [() => database.stop()]
  if (way === 'pgbouncer') {
    const pooler = await startPgBouncer(databaseUrl)
    environment.TEST_DATABASE_REACHED_AT = pooler.urlOf('postgres')
    stops.push(() => pooler.stop())
  }
  if (certificate)
    environment.TEST_DATABASE_REACHED_AT = withParameter(
      withParameter(databaseUrl.replace(/\?.*/, ''), 'sslmode', 'verify-full'),
      'sslrootcert',
      certificate.cert,
    )
  if (way === 'standby' || way === 'replica') {
    await makeStandby(database, join(folder, 'standby'))
    const standby = await start('standby')
    stops.push(() => standby.stop())
    if (way === 'standby') await waitForStandby(databaseUrl)
    else environment.TEST_DATABASE_READ_AT = standby.databaseUrl
  }
  return {
    environment,
    async stop() {
      for (const stop of stops.toReversed()) await stop()
    },
  }
}

/** Where the registry does not answer, the run is skipped: it says so and succeeds. */
function installOldest(): string {
  const name = packageName()
  const folder = join(import.meta.dirname, '../../node_modules/.cache/catraca-tests/oldest')
  const installed = join(folder, 'node_modules', name)
  const { status } = spawnSync(
    'npm',
    ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', `${name}@${OLDEST_VERSION}`],
    { stdio: 'ignore' },
  )
  if (status === 0) return installed
  process.stdout.write(`skipped: PostgreSQL ${OLDEST_VERSION} (${name}) could not be installed\n`)
  process.exit(0)
}

/** A run opens thousands of connections, and each proves its password by 4,096 rounds of a hash. */
async function hashPasswordOnce(databaseUrl: string): Promise<void> {
  const { username, password } = new URL(databaseUrl)
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('set scram_iterations = 1')
  await client.query(
    `alter role ${pg.escapeIdentifier(username)} password ${pg.escapeLiteral(password)}`,
  )
  await client.end()
}

/** Of a server at 127.0.0.1, signed by itself. */
async function makeCertificate(folder: string): Promise<{ cert: string; key: string }> {
  await mkdir(folder)
  const [cert, key] = [join(folder, 'server.crt'), join(folder, 'server.key')]
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  execFileSync('openssl', ['req', ...kind, '-days', '2', ...name, '-out', cert, '-keyout', key], {
    stdio: 'pipe',
  })
  await chmod(key, 0o600)
  const { uid, gid } = runAs().ids
  if (uid !== undefined) await chown(key, uid, gid ?? uid)
  return { cert, key }
}

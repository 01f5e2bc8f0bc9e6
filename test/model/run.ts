/**
 * `node test/model/run.ts --schedules 100000 --seed 1 --worlds 16`: explores on a separate PostgreSQL, see docs/proof.md.
 * World `i` has the seed `seed + i` and its share of the schedules. Prints the seeds, the time and every failure,
 * and exits 1 if there is one. SIGTERM and SIGINT end it early, with the same report.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { describeFailure, explore } from './explore.ts'
import { EVERYTHING } from './generate-schedule.ts'

/** More than the sessions of a world are at once, and those that wait for another client. */
const WORLD_CONNECTIONS = 30

const { values } = parseArgs({
  options: {
    schedules: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    worlds: { type: 'string', default: '16' },
  },
})
const dataDir = await mkdtemp(join(tmpdir(), 'catraca-model-'))
// For root, the database runs as another account.
await chmod(dataDir, 0o755)
const database = await startEmbedded({
  dataDir,
  log: () => {},
  connections: Number(values.worlds) * WORLD_CONNECTIONS,
  // No schedule crashes the database itself.
  settings: {
    fsync: 'off',
    full_page_writes: 'off',
    wal_level: 'minimal',
    max_wal_senders: '0',
    wal_compression: 'off',
    max_wal_size: '256MB',
  },
})
process.env.TEST_DATABASE_URL = database.databaseUrl
const startedAtMs = performance.now()
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())
try {
  const { ran, paused, failures } = await explore({
    vocabulary: EVERYTHING,
    count: Number(values.schedules),
    seed: Number(values.seed),
    worlds: Number(values.worlds),
    progress: (count) => process.stdout.write(`${count} schedules\n`),
    signal: stopping.signal,
  })
  const minutes = ((performance.now() - startedAtMs) / 60_000).toFixed(1)
  process.stdout.write(
    `seed ${values.seed}, ${values.worlds} worlds: ${ran} schedules in ${minutes} minutes, ${failures.length} failures (${paused.length} more were repeated after a pause of the machine)\n`,
  )
  for (const failure of failures) process.stdout.write(`${describeFailure(failure)}\n`)
  for (const message of paused) process.stdout.write(`repeated after a pause: ${message}\n`)
  process.exitCode = failures.length > 0 ? 1 : 0
} finally {
  await database.stop()
  await rm(dataDir, { recursive: true, force: true })
}

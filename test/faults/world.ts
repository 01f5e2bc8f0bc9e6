/**
 * A primary with a synchronous standby, three nodes (the last one with workers) that each reach both through their own
 * network, an upstream and a payment processor.
 */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import { sql } from 'kysely'
import { startDatabasePair, type DatabasePair } from '../harness/database-pair.ts'
import { startBalancer, type Balancer } from './balancer.ts'
import { createFaultNode, type FaultNode, type OtherRelease } from './fault-node.ts'
import { LIVE_ENVIRONMENT } from '../harness/live-environment.ts'
import { runCliProcess } from '../harness/run-cli-process.ts'
import { createProcessor, type ProcessorProcess } from './processor-process.ts'
import { findPreviousMissing, unpackPreviousRelease } from '../upgrade/previous-release.ts'
import { catalogOf, FX_RATE, startUpstream, type UpstreamProcess } from './upstream-process.ts'

export const NODES = 3
/** This node runs workers under a parent. */
export const WORKERS_NODE = 2
export const WORKERS = 2
/** The clock of this node can be set. */
export const CLOCK_NODE = 1
/** Streams run for 20 s. The balancer notices within the delay that a node drains. */
const DRAIN = { DRAIN_DELAY_SECONDS: '1', DRAIN_SECONDS: '30' }

export interface World {
  readonly nodes: readonly FaultNode[]
  readonly balancer: Balancer
  /** Undefined where it is not asked for, or cannot be had: then no node is upgraded, and the report says so. */
  readonly previous: OtherRelease | undefined
  readonly upstream: UpstreamProcess
  /** Directly to the database, past the networks of the nodes. */
  readonly db: Database
  readonly databaseUrl: string
  /** Undefined on machines without openssl. */
  readonly processor: ProcessorProcess | undefined
  /** Of every node and of the command line. */
  readonly env: Readonly<Record<string, string>>
  readonly killedWorkers: KilledWorker[]
  readonly database: DatabasePair
  /** Resolves when its primary answers. */
  untilAnswering(): Promise<void>
  close(): Promise<void>
}

/** When a worker was killed, and when none of its holds was left. */
export interface KilledWorker {
  readonly killedAtMs: number
  readonly resolvedAtMs: number
}

const open = new Set<World>()

/** For a run that is ended from outside: databases and mounted disks would outlive it. */
export async function closeWorlds(): Promise<void> {
  await Promise.all([...open].map((world) => world.close()))
}

/** With `fromPrevious`, the nodes run the previous release, on a database that this release has migrated meanwhile. */
export async function createWorld({ fromPrevious = false } = {}): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'catraca-faults-'))
  // The account that runs the database for root must be able to open the folder, or its files would be
  // elsewhere.
  await chmod(folder, 0o755)
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'catraca-faults-compiled')
  const database = await startDatabasePair(folder)
  const { databaseUrl } = database
  const unpacked =
    fromPrevious && !(await findPreviousMissing()) ? await unpackPreviousRelease() : undefined
  const previous = unpacked && { program: unpacked.serverProgram, env: unpacked.env }
  if (!previous) await migrate(databaseUrl)
  const direct = openDatabase(databaseUrl, { onError: () => {} })

  const upstream = await startUpstream()
  const catalogFile = join(folder, 'catraca.config.json')
  await writeFile(catalogFile, JSON.stringify(catalogOf(upstream.port)))
  const processor = await createProcessor(folder)
  const env = {
    ...LIVE_ENVIRONMENT,
    ...DRAIN,
    // Nobody takes the mails.
    SMTP_URL: 'smtp://127.0.0.1:25',
    CATRACA_CONFIG: catalogFile,
    LOG_LEVEL: 'info',
    TOPUP_MIN_BRL: '10',
    ...processor?.env,
  }
  const nodes = await Promise.all(
    Array.from({ length: NODES }, (_, index) =>
      createFaultNode({
        index,
        folder,
        database,
        env: index === WORKERS_NODE ? { ...env, WORKERS: String(WORKERS) } : env,
        hasClock: index === CLOCK_NODE,
      }),
    ),
  )
  const balancer = startBalancer(nodes.map(({ port }) => port))

  const world: World = {
    nodes,
    balancer,
    previous,
    upstream,
    db: direct.db,
    database,
    databaseUrl,
    processor,
    env,
    killedWorkers: [],
    untilAnswering: () => untilAnswering(direct.db),
    async close() {
      if (!open.delete(world)) return
      await balancer.close()
      await Promise.all(nodes.map((node) => node.remove()))
      await unpacked?.remove()
      await Promise.all([upstream.stop(), processor?.stop()])
      await direct.close()
      await database.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
  open.add(world)
  await startNodes(world).catch(async (error: unknown) => {
    await world.close()
    throw error
  })
  return world
}

async function startNodes({ nodes, processor, previous, databaseUrl, env }: World): Promise<void> {
  await processor?.start(nodes.map(({ port }) => port))
  if (previous) {
    for (const node of nodes) {
      node.setRelease(previous)
      // The first one migrates.
      await node.start()
    }
    await migrate(databaseUrl)
  }
  const fx = await runCliProcess(['fx', 'set', FX_RATE, '--note', 'faults'], {
    ...env,
    DATABASE_URL: databaseUrl,
  })
  if (fx.code !== 0) throw new Error(fx.stderr)
  if (!previous) await Promise.all(nodes.map((node) => node.start()))
}

async function untilAnswering(db: Database): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline; await sleep(200)) {
    if (await sql`select 1`.execute(db).catch(() => undefined)) return
  }
  throw new Error('the database did not come back')
}

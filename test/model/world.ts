/** A database with nodes, on which schedules run one after the other, each with separate customers. */
import type { Model } from '../../src/money/catalog/model.ts'
import { registerPrices } from '../../src/money/catalog/register-prices.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import type { Resolution } from '../../src/money/ledger/resolution.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createTestDatabase, withClient, type TestDatabase } from '../harness/test-database.ts'
import { NANO_BRL_PER_TOKEN, testModel } from '../harness/open-test-ledger.ts'
import { LEASE_SECONDS, MAKE_TIME_PASS, startNode, type DrivenNode } from './drive-ledger.ts'
import { openPrepared, type Prepared } from './prepared.ts'
import { openServerSessions, type ServerSessions } from './server-sessions.ts'

export const NODES = 3
/**
 * The lanes of each node: one node has a single lane, so that its calls share every batch; the others have parallel
 * lanes.
 */
const LANES = [1, 2, 2]
export const PICO_USD_PER_TOKEN = 2_000_000n

export interface World {
  readonly database: TestDatabase
  readonly prepared: Prepared
  /** Of the nodes at the database. */
  readonly sessions: ServerSessions
  /** By their index; a crashed node is replaced. */
  readonly nodes: DrivenNode[]
  /** The price, rate and markup of the test model's calls. */
  readonly terms: Pick<Attempt, 'priceId' | 'fxRateId' | 'fxRateE4' | 'markupE4'>
  /** Replaces the world after a broken promise, so that its rows break no others. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** `prepare`: statements that change the migrated database. */
export async function openWorld({
  prepare,
}: { prepare?: string | undefined } = {}): Promise<World> {
  const database = await createTestDatabase()
  const { db, databaseUrl } = database
  await withClient(databaseUrl, async (client) => {
    // Deadlocks are detected at once, because the schedules check that there are none.
    await client.query(`do $$ begin
      execute format('alter database %I set deadlock_timeout = ''20ms''', current_database()); end $$`)
    await client.query(MAKE_TIME_PASS)
    if (prepare) await client.query(prepare)
    // Nodes are not fenced before that.
    await client.query(
      `select pg_sleep(greatest(0, $1 + 1 - extract(epoch from clock_timestamp() - pg_postmaster_start_time())))`,
      [LEASE_SECONDS],
    )
  })
  const [model] = await registerPrices(db, [testModel])
  const fxRate = await storeFxRate(db, {
    rateE4: 50_000n,
    rateDate: '2026-11-20',
    bulletinAt: null,
    source: 'sandbox',
  })
  const prepared = openPrepared(databaseUrl, db)
  const sessions = openServerSessions(databaseUrl)
  const start = (): Promise<DrivenNode[]> =>
    Promise.all(LANES.map((laneCount) => startNode({ databaseUrl, sessions, laneCount })))
  const nodes = await start()
  return {
    database,
    prepared,
    sessions,
    nodes,
    terms: {
      priceId: (model as Model).price.id,
      fxRateId: fxRate.id,
      fxRateE4: fxRate.rateE4,
      markupE4: testModel.markupE4,
    },
    async restart() {
      await Promise.all(nodes.map((node) => node.abandon()))
      await db.deleteFrom('holds').execute()
      nodes.splice(0, nodes.length, ...(await start()))
    },
    async close() {
      await Promise.all(nodes.map((node) => node.close()))
      sessions.close()
      await prepared.close()
      await database.drop()
    },
  }
}

export const toNanoBrl = (tokens: number): bigint => BigInt(tokens) * NANO_BRL_PER_TOKEN
export const toPicoUsd = (tokens: number): bigint => BigInt(tokens) * PICO_USD_PER_TOKEN

/** The number of tokens; a fraction only if the amount is wrong. */
export const fromNanoBrl = (amount: bigint | string | number): number =>
  Number(amount) / Number(NANO_BRL_PER_TOKEN)
export const fromPicoUsd = (amount: bigint | string | number): number =>
  Number(amount) / Number(PICO_USD_PER_TOKEN)

export function createAttempt(
  world: World,
  call: {
    readonly customerId: string
    readonly key: { readonly id: string; readonly version: number }
    readonly ip: string
    readonly tokens: number
    readonly isStream: boolean
    /** The call is of the customer's task, with this cap. */
    readonly taskLimit?: number | undefined
  },
): Attempt {
  const { tokens, isStream, key, taskLimit } = call
  return {
    id: createId(),
    isRepeated: false,
    customerId: call.customerId,
    key: { ...key, requestsPerMinute: 1_000_000, tokensPerMinute: null },
    ip: call.ip,
    ipLimit: 1_000_000,
    requestId: createId(),
    sessionId: taskLimit === undefined ? null : 'tarefa',
    modelId: testModel.id,
    isStream,
    amountNanoBrl: toNanoBrl(tokens),
    budgetPicoUsd: toPicoUsd(tokens),
    ...world.terms,
    promptTokensEstimated: 0,
    tokensCounted: tokens,
    taskLimitNanoBrl: taskLimit === undefined ? null : toNanoBrl(taskLimit),
  }
}

export function chargeOf({ id, customerId }: Attempt, tokens: number): Resolution {
  return {
    id,
    customerId,
    outcome: 'charged',
    reason: null,
    upstreamId: 'test',
    usageKind: 'exact',
    promptTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: tokens,
    reasoningTokens: 0,
    costPicoUsd: BigInt(tokens) * 1_000_000n,
    billedNanoBrl: toNanoBrl(tokens),
    billedPicoUsd: toPicoUsd(tokens),
    firstByteMs: 1,
    durationMs: 2,
    priceId: null,
    units: null,
    attempts: null,
    isFinal: false,
  }
}

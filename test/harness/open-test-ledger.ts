import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FUNCTIONS_SCHEMA } from '../../src/platform/db/functions.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { registerPrices } from '../../src/money/catalog/register-prices.ts'
import type { ConfiguredModel, Model } from '../../src/money/catalog/model.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { openLedger, type Ledger } from '../../src/money/ledger/open-ledger.ts'
import { release, type Resolution } from '../../src/money/ledger/resolution.ts'
import type { CallInDoubt } from '../../src/money/ledger/open-ledger.ts'
import type { LeaseView } from '../../src/money/ledger/lease.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { chargeFor } from '../../src/platform/lib/money.ts'
import type { ApiKey } from '../../src/customers/api-keys.ts'

/** Input costs nothing and an output token one micro-USD, so that one token bills 10,000 nano-BRL at rate 5 and markup 2. */
export const testModel: ConfiguredModel = {
  id: 'test-model',
  displayName: 'Test',
  category: 'llm',
  description: null,
  vendor: 'test',
  markupE4: 20_000n,
  price: {
    tiers: [
      {
        abovePromptTokens: 0,
        input: 0n,
        cachedInput: 0n,
        cacheWrite: 0n,
        output: 1_000_000n,
        reasoning: 1_000_000n,
      },
    ],
  },
  contextTokens: 1_000_000,
  outputTokensMax: 100_000,
  imageTokensMax: 0,
  supportsTools: true,
  strategy: 'priority',
  routes: [],
}

export const NANO_BRL_PER_TOKEN = chargeFor(1_000_000n, { fxRateE4: 50_000n, markupE4: 20_000n })

/** The billed amount of this many tokens, as BRL text. */
export function worth(tokens: number): string {
  return (Number(BigInt(tokens) * NANO_BRL_PER_TOKEN) / 1e9).toString()
}

/** A running call of a node that holds its lease. */
export const runningCall: CallInDoubt = { isHoldDurable: true, epoch: 0, isDelivered: false }

/** A lease that never lapses. */
export function heldLease(nodeId: string): LeaseView {
  return {
    nodeId: () => nodeId,
    epoch: () => 0,
    isHeld: () => true,
    whenHeld: async () => true,
  }
}

export interface TestLedger {
  readonly ledger: Ledger
  readonly nodeId: string
  readonly spoolDir: string
  attempt: (key: ApiKey, tokens: number, more?: Partial<Attempt>) => Attempt
  charge: (attempt: Attempt, tokens: number) => Resolution
  /** All requests to the ledger that `ask` makes for this customer go in one batch, because the lane is busy before. */
  inOneBatch<Answer>(customerId: string, ask: () => Promise<Answer>[]): Promise<Answer[]>
}

export async function openTestLedger(
  db: Database,
  databaseUrl: string,
  options: {
    spoolDir?: string
    laneCount?: number
    lease?: LeaseView
    /** Where the ledger's own connections go, if not to the database of the rest. */
    ledgerUrl?: string
    onBatch?: (size: number) => void
  } = {},
): Promise<TestLedger> {
  const nodeId = createId()
  await db
    .insertInto('nodes')
    .values({ id: nodeId, stopped_at: null, functions_schema: FUNCTIONS_SCHEMA })
    .execute()
  const lease = options.lease ?? heldLease(nodeId)
  const [model] = await registerPrices(db, [testModel])
  const fxRate = await storeFxRate(db, {
    rateE4: 50_000n,
    rateDate: '2026-11-20',
    bulletinAt: null,
    source: 'sandbox',
  })
  const spoolDir = options.spoolDir ?? (await mkdtemp(join(tmpdir(), 'catraca-spool-')))
  const ledger = await openLedger({
    databaseUrl: options.ledgerUrl ?? databaseUrl,
    lease,
    laneCount: options.laneCount ?? 2,
    spoolDir,
    log: createLog('silent', () => {}),
    observer: { batch: options.onBatch ?? (() => {}), gone() {} },
  })
  return {
    ledger,
    nodeId,
    spoolDir,
    attempt(key, tokens, more = {}) {
      return {
        id: createId(),
        isRepeated: false,
        customerId: key.customerId,
        key,
        ip: '203.0.113.7',
        ipLimit: 1_000_000,
        requestId: createId(),
        sessionId: null,
        modelId: testModel.id,
        isStream: false,
        amountNanoBrl: BigInt(tokens) * NANO_BRL_PER_TOKEN,
        budgetPicoUsd: BigInt(tokens) * 2_000_000n,
        priceId: (model as Model).price.id,
        fxRateId: fxRate.id,
        fxRateE4: fxRate.rateE4,
        markupE4: testModel.markupE4,
        promptTokensEstimated: 0,
        tokensCounted: tokens,
        taskLimitNanoBrl: null,
        ...more,
      }
    },
    charge(attempt, tokens) {
      return {
        id: attempt.id,
        customerId: attempt.customerId,
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
        billedNanoBrl: BigInt(tokens) * NANO_BRL_PER_TOKEN,
        billedPicoUsd: BigInt(tokens) * 2_000_000n,
        firstByteMs: 1,
        durationMs: 2,
        priceId: null,
        units: null,
        attempts: null,
        isFinal: false,
      }
    },
    async inOneBatch(customerId, ask) {
      const busy = ledger.resolve(release({ id: createId(), customerId }, 'test'))
      const answers = await Promise.all(ask())
      await busy
      return answers
    },
  }
}

/** The customers of a world, and the changes to their money and keys while they call. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey, revokeApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import type { Database } from '../../src/db/open.ts'
import { credit, debit, type EntryOutcome } from '../../src/ledger/entries.ts'
import { createId } from '../../src/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { seedTeam } from '../harness/seed-team.ts'
import type { Random } from './random.ts'

export interface Purse {
  readonly customerId: string
  /** The balance covers a few calls only. */
  readonly isPoor: boolean
  /** Its keys belong to this team, whose cap is never reached. */
  readonly teamId: string | undefined
  key: { readonly id: string; readonly secret: string }
  creditedNanoBrl: bigint
  debitedNanoBrl: bigint
}

export interface Purses {
  readonly all: readonly Purse[]
  /** When each key was certainly revoked: no call that begins later may be answered. */
  readonly revokedAtMs: ReadonlyMap<string, number>
  /** Starts to credit, debit and revoke; the result stops it. */
  startActs(random: Random): { stop(): Promise<void> }
}

const RICH = 2
const POOR = 3
const RICH_BRL = '5000'
/** Covers one call of `MAX_TOKENS`, and not two. */
const ROOM_OF_ONE_NANO_BRL = 100_000_000n
const POOR_BRL = '0.3'
const CAP_NANO_BRL = 4_000_000_000_000n
const BUDGET_PICO_USD = 1_000_000_000_000_000n

export async function createPurses(db: Database): Promise<Purses> {
  const all: Purse[] = []
  for (let index = 0; index < RICH + POOR; index++) {
    const isPoor = index >= RICH
    const balanceBrl = isPoor ? POOR_BRL : RICH_BRL
    const { customerId } = await seedCustomer(db, { balanceBrl })
    const teamId =
      index === 0 ? await seedTeam(db, customerId, { limitNanoBrl: CAP_NANO_BRL }) : undefined
    const { key, secret } = await createApiKey(db, keyOf(customerId, teamId))
    const creditedNanoBrl = BigInt(Math.round(Number(balanceBrl) * 10)) * 100_000_000n
    all.push({
      customerId,
      isPoor,
      teamId,
      key: { id: key.id, secret },
      creditedNanoBrl,
      debitedNanoBrl: 0n,
    })
  }
  const revokedAtMs = new Map<string, number>()

  async function changeKey(purse: Purse): Promise<void> {
    const { customerId, key } = purse
    await untilDone(() => revokeApiKey(db, key.id, customerId))
    revokedAtMs.set(key.id, Date.now())
    const made = await untilDone(() => createApiKey(db, keyOf(customerId, purse.teamId)))
    if ('secret' in made) purse.key = { id: made.key.id, secret: made.secret }
  }

  async function act(random: Random): Promise<void> {
    const poor = random.pick(all.filter(({ isPoor }) => isPoor))
    const drawn = random.next()
    if (drawn < 0.15) return changeKey(random.pick(all))
    const { customerId } = poor
    const amountNanoBrl = ROOM_OF_ONE_NANO_BRL * BigInt(random.between(1, 4))
    // The same reference at each try: an entry whose confirmation was lost is not posted twice.
    const entry = { customerId, amountNanoBrl, reason: 'adjustment', reference: createId() }
    if (drawn < 0.75) {
      const outcome = await untilDone(() => credit(db, entry))
      if (isPosted(outcome)) poor.creditedNanoBrl += amountNanoBrl
    } else {
      const outcome = await untilDone(() => debit(db, entry))
      if (isPosted(outcome)) poor.debitedNanoBrl += amountNanoBrl
    }
  }

  return {
    all,
    revokedAtMs,
    startActs(random) {
      const stopping = new AbortController()
      const running = (async () => {
        while (!stopping.signal.aborted) {
          await sleep(random.between(200, 1_500))
          await act(random)
        }
      })()
      return {
        async stop() {
          stopping.abort()
          await running
        },
      }
    },
  }
}

/** With a budget that is never reached: the audit proves how much of it is spent. */
function keyOf(customerId: string, teamId: string | undefined): ApiKeyInput {
  const budget = { period: 'day', limitPicoUsd: BUDGET_PICO_USD } as const
  return { customerId, name: 'faults', requestsPerMinute: 1_000_000, budget, teamId }
}

function isPosted({ kind }: EntryOutcome): boolean {
  return kind === 'posted' || kind === 'exists'
}

/** The database is unavailable now and then. */
async function untilDone<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (tries > 400) throw error
      await sleep(500)
    }
  }
}

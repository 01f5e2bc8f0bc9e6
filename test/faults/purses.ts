/** The customers of a world, and the changes to their money and keys while they call. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiKey, revokeApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import { credit, debit, type EntryOutcome } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedPayer } from '../harness/payer.ts'
import { createPayments, type Payments } from './payments.ts'
import type { Random } from './random.ts'
import type { World } from './world.ts'

export interface Purse {
  readonly customerId: string
  /** The balance covers a few calls only. */
  readonly isPoor: boolean
  /** Its keys belong to this team, whose cap is never reached. */
  readonly teamId: string | undefined
  /** Of the customer who lives on top-ups alone. */
  readonly payments?: Payments
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

export async function createPurses({ db, nodes, processor }: World): Promise<Purses> {
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
  if (processor) {
    const payer = await seedPayer(db)
    const { customerId } = payer
    const { key, secret } = await createApiKey(db, keyOf(customerId, undefined))
    all.push({
      customerId,
      isPoor: true,
      teamId: undefined,
      payments: createPayments(
        payer,
        nodes.map(({ baseUrl }) => baseUrl),
      ),
      key: { id: key.id, secret },
      creditedNanoBrl: 0n,
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
    const poor = random.pick(all.filter(({ isPoor, payments }) => isPoor && !payments))
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
      async function repeat(work: () => Promise<void>): Promise<void> {
        while (!stopping.signal.aborted) {
          await sleep(random.between(200, 1_500))
          await work()
        }
      }
      const payers = all.flatMap(({ payments }) => (payments ? [payments] : []))
      const running = [
        repeat(() => act(random)),
        ...payers.map((payments) =>
          repeat(() => (random.next() < 0.6 ? payments.topUp(random) : payments.refund(random))),
        ),
      ]
      return {
        async stop() {
          stopping.abort()
          await Promise.all(running)
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

/**
 * Stops card testing, where an attacker tries a list of stolen cards to learn which ones work. Each attempt counts before
 * the processor is asked, so concurrent ones are counted too, and over all nodes. What the processor accepts counts as
 * well: it is what the attacker looks for.
 */
import { sql } from 'kysely'
import { lockCustomer } from '../../customers/customers.ts'
import { hasToppedUp } from '../../customers/has-topped-up.ts'
import { giveBackAttempts, limitAttempts, type Limit } from '../../platform/admission/attempts.ts'
import type { Database } from '../../platform/db/open.ts'
import { clientNetworks } from '../../platform/lib/client-networks.ts'
import { createId } from '../../platform/lib/ids.ts'

export interface CardAttempt {
  readonly customerId: string
  readonly remoteIp: string
  /** The browser's; undefined for a key, which has none. */
  readonly deviceId?: string | undefined
}

export interface TooManyRefusals {
  readonly kind: 'too_many_refusals'
  /** Beyond one customer, it is probably an attack. */
  readonly of: 'customer' | 'device' | 'network' | 'newcomers'
  readonly retryAfterSeconds: number
}

/** The most card attempts of one customer in an hour that were refused or have no answer yet. */
export const CARD_REFUSALS_MAX = 10
const WINDOW_SECONDS = 3_600

/**
 * The limits of card attempts. `refused` counts refused attempts, `all` also accepted ones. `newcomers` are all
 * customers who never topped up, so that an attacker with many networks and accounts does not use up the attempts of
 * the others.
 */
export const CARD_LIMITS = {
  customer: { all: { max: 30, seconds: 86_400 } },
  device: { all: { max: 15, seconds: WINDOW_SECONDS } },
  near: {
    refused: { max: 20, seconds: WINDOW_SECONDS },
    all: { max: 60, seconds: WINDOW_SECONDS },
  },
  wide: {
    refused: { max: 60, seconds: WINDOW_SECONDS },
    all: { max: 200, seconds: WINDOW_SECONDS },
  },
  newcomers: {
    refused: { max: 100, seconds: WINDOW_SECONDS },
    all: { max: 300, seconds: WINDOW_SECONDS },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Limit>>>>

/** What the processor's answer about a card becomes; any other outcome tells nothing of one. */
const TELLING: ReadonlySet<string> = new Set(['card_rejected', 'tokenized', 'created'])
/** Begins the keys of the counts of refused attempts. */
const REFUSED = 'refused '

/** Runs `act` unless a limit is reached. An attempt that a crash cut off counts as refused. */
export async function guardCards<Outcome extends { readonly kind: string }>(
  db: Database,
  attempt: CardAttempt,
  act: () => Promise<Outcome>,
): Promise<Outcome | TooManyRefusals> {
  const begun = await beginAttempt(db, attempt)
  if ('kind' in begun) return begun
  const outcome = await act()
  if (outcome.kind === 'card_rejected') return outcome
  await db.deleteFrom('card_attempts').where('id', '=', begun.id).execute()
  const isTelling = TELLING.has(outcome.kind)
  await giveBackAttempts(
    db,
    begun.counted.filter((key) => !isTelling || key.startsWith(REFUSED)),
  )
  return outcome
}

/** Deletes refusals that count no more, also of customers who never try a card again. */
export async function pruneCardAttempts(db: Database): Promise<void> {
  await sql`
    delete from card_attempts
    where created_at < now() - make_interval(secs => ${WINDOW_SECONDS})`.execute(db)
}

function beginAttempt(
  db: Database,
  attempt: CardAttempt,
): Promise<{ id: string; counted: string[] } | TooManyRefusals> {
  const { customerId } = attempt
  return db.transaction().execute(async (trx) => {
    await lockCustomer(trx, customerId)
    await sql`
      delete from card_attempts
      where customer_id = ${customerId} and created_at < now() - make_interval(secs => ${WINDOW_SECONDS})`.execute(
      trx,
    )
    const { rows } = await sql<{ seconds: number }>`
      select ceil(extract(epoch from created_at - now()) + ${WINDOW_SECONDS})::int4 as seconds
      from card_attempts where customer_id = ${customerId}
      order by created_at desc offset ${CARD_REFUSALS_MAX - 1} limit 1`.execute(trx)
    const [last] = rows
    if (last)
      return {
        kind: 'too_many_refusals',
        of: 'customer',
        retryAfterSeconds: Math.max(1, last.seconds),
      }
    const counted: string[] = []
    // The narrowest first, in one order for all, so that concurrent attempts wait for each other and never in a circle.
    for (const { of, key, limit } of await countsOf(trx, attempt)) {
      const retryAfterSeconds = await limitAttempts(trx, key, limit)
      if (retryAfterSeconds !== undefined) {
        await giveBackAttempts(trx, counted)
        return { kind: 'too_many_refusals', of, retryAfterSeconds }
      }
      counted.push(key)
    }
    const id = createId()
    await trx.insertInto('card_attempts').values({ id, customer_id: customerId }).execute()
    return { id, counted }
  })
}

async function countsOf(
  trx: Database,
  { customerId, remoteIp, deviceId }: CardAttempt,
): Promise<{ of: TooManyRefusals['of']; key: string; limit: Limit }[]> {
  const { near, wide } = clientNetworks(remoteIp)
  const subjects = [
    ['customer', `cards of ${customerId}`, CARD_LIMITS.customer],
    ['device', deviceId && `cards on ${deviceId}`, CARD_LIMITS.device],
    ['network', `cards from ${near}`, CARD_LIMITS.near],
    ['network', `cards from ${wide}`, CARD_LIMITS.wide],
    [
      'newcomers',
      (await hasToppedUp(trx, customerId)) ? undefined : 'cards of newcomers',
      CARD_LIMITS.newcomers,
    ],
  ] as const
  return subjects.flatMap(([of, key, limits]) =>
    key === undefined
      ? []
      : [
          ...('refused' in limits ? [{ of, key: REFUSED + key, limit: limits.refused }] : []),
          { of, key, limit: limits.all },
        ],
  )
}

import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { StoredProofs } from '../../platform/db/tables.ts'
import { countSealsOfDays, readChainsOfDays, type ChainOfDay } from './read-charge-chain.ts'
import { growMerkleTree } from '../ledger/audit/merkle-tree.ts'
import { readChargeLeaves } from '../ledger/audit/read-charge-leaves.ts'

/** A tree has up to 20,000 leaves, which are read for its first proof. */
const TREES_MAX = 4

interface SettledCharge {
  readonly id: string
  /** To the microsecond, in UTC. */
  readonly settledAt: string
}

/**
 * Where charges are in the trees of their seals. Charges of days that are not over have no proof yet, and one call reads
 * only a few trees: a later call finds the rest.
 */
async function proveCharges(
  db: Database,
  charges: readonly SettledCharge[],
  chains: ReadonlyMap<string, ChainOfDay>,
): Promise<StoredProofs> {
  const proofs: Record<string, StoredProofs[string]> = {}
  let trees = 0
  for (const charge of charges) {
    if (proofs[charge.id]) continue
    const chain = chains.get(charge.settledAt.slice(0, 10))
    const slice = chain && trees < TREES_MAX ? await sliceOf(db, charge) : undefined
    if (!chain || !slice) continue
    trees += 1
    const leaves = await readChargeLeaves(db, slice)
    const tree = await growMerkleTree(leaves.map(({ leaf }) => leaf))
    const places = new Map(leaves.map(({ id }, index) => [id, index]))
    for (const { id } of charges) {
      const index = places.get(id)
      if (index === undefined) continue
      const path = tree.pathOf(index).map(({ side, hash }) => ({
        side,
        hash: hash.toString('hex'),
      }))
      proofs[id] = { seal: slice.number, path, head: chain.head }
    }
  }
  return proofs
}

async function sliceOf(db: Database, { settledAt }: SettledCharge) {
  const { rows } = await sql<{ number: number; fromAt: string; toAt: string }>`
    select number::int4 as number, from_at::text as "fromAt", to_at::text as "toAt" from audit_seals
    where from_at <= ${settledAt}::timestamptz and to_at > ${settledAt}::timestamptz`.execute(db)
  return rows[0]
}

/** A bill of a session shows its first charges only. */
export const CHARGES_MAX = 200
/**
 * The most seals that a bill shows, and only those of its first days: a bill has all seals of the days in which its
 * charges were settled, of which a busy service makes hundreds a day. The first day is always shown.
 */
export const SEALS_MAX = 5_000
/** The text form of a token; no other one is looked up. */
const TOKEN = /^[0-9A-Za-z]{32}$/

export interface ShownCharge {
  /** The text that the tree covers (`charge_text` in `ledger/sql/seals.sql`): JSON. */
  readonly text: string
  readonly fxRateDate: string
  readonly fxSource: string
  /** Undefined until the charge's day is over and sealed. */
  readonly proof: StoredProofs[string] | undefined
}

export interface ShownBill {
  readonly kind: 'charge' | 'session'
  readonly createdAt: Date
  /** Oldest first, each with its corrections. */
  readonly charges: readonly ShownCharge[]
  /** The session has more charges than a bill shows. */
  readonly hasMore: boolean
  /** The chains of the days in which proved charges were settled. */
  readonly chains: readonly ChainOfDay[]
}

interface BillRow {
  readonly id: string
  readonly customer_id: string
  readonly usage_event_id: string | null
  readonly session_id: string | null
  readonly proofs: StoredProofs | null
  readonly created_at: Date
}

interface ChargeRow extends Omit<ShownCharge, 'proof'> {
  readonly id: string
  readonly settledAt: string
}

/**
 * Returns the bill that a link opens; undefined for no link, and for those of deleted accounts. The amounts are read
 * from the ledger at every call, their places in the trees only once.
 */
export async function readPublicBill(
  db: Database,
  token: string,
  { sealsMax = SEALS_MAX }: { readonly sealsMax?: number } = {},
): Promise<ShownBill | undefined> {
  if (!TOKEN.test(token)) return undefined
  const bill = await db
    .selectFrom('public_bills')
    .innerJoin('customers', 'customers.id', 'public_bills.customer_id')
    .selectAll('public_bills')
    .where('token', '=', token)
    // The rows of a deleted account are erased some time later.
    .where('customers.deleted_at', 'is', null)
    .executeTakeFirst()
  if (!bill) return undefined
  const found = await readCharges(db, bill)
  if (found.length === 0) return undefined
  const charges = await withinSeals(db, found.slice(0, CHARGES_MAX), sealsMax)
  const chains = await readChainsOfDays(db, daysOf(charges))
  const proofs = await findProofs(db, bill, charges, chains)
  return {
    kind: bill.session_id === null ? 'charge' : 'session',
    createdAt: bill.created_at,
    hasMore: found.length > charges.length,
    charges: charges.map(({ id, text, fxRateDate, fxSource }) => ({
      text,
      fxRateDate,
      fxSource,
      proof: proofs[id],
    })),
    chains: [...chains.values()],
  }
}

function daysOf(charges: readonly ChargeRow[]): string[] {
  return [...new Set(charges.map(dayOf))]
}

function dayOf({ settledAt }: ChargeRow): string {
  return settledAt.slice(0, 10)
}

/** The first charges whose days have at most so many seals together. */
async function withinSeals(
  db: Database,
  charges: readonly ChargeRow[],
  sealsMax: number,
): Promise<readonly ChargeRow[]> {
  const days = daysOf(charges)
  if (days.length <= 1) return charges
  const counts = await countSealsOfDays(db, days)
  let seals = 0
  const beyond = days.findIndex((day, index) => {
    seals += counts.get(day) ?? 0
    return index > 0 && seals > sealsMax
  })
  if (beyond === -1) return charges
  return charges.slice(
    0,
    charges.findIndex((charge) => dayOf(charge) === days[beyond]),
  )
}

async function readCharges(db: Database, bill: BillRow): Promise<ChargeRow[]> {
  const events =
    bill.session_id === null
      ? sql`
        select u from usage_events u where id = ${bill.usage_event_id}
        union all
        select u from usage_events u where corrects_id = ${bill.usage_event_id}`
      : sql`
        select u from usage_events u
        where customer_id = ${bill.customer_id} and session_id = ${bill.session_id}`
  const { rows } = await sql<ChargeRow>`
    select (u).id, charge_text(u) as text, f.rate_date as "fxRateDate", f.source as "fxSource",
      to_char((u).settled_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "settledAt"
    from (${events}) e (u)
    join fx_rates f on f.id = (u).fx_rate_id
    where (u).customer_id = ${bill.customer_id} and (u).outcome = 'charged'
    order by (u).created_at, (u).id limit ${CHARGES_MAX + 1}`.execute(db)
  return rows
}

/**
 * Stores new proofs, so that the trees are not read again. One reader at a time reads trees, over all nodes: bills are
 * read by anybody, and a tree costs the database tens of milliseconds. The others get what is stored.
 */
async function findProofs(
  db: Database,
  bill: BillRow,
  charges: readonly ChargeRow[],
  chains: ReadonlyMap<string, ChainOfDay>,
): Promise<StoredProofs> {
  const stored = bill.proofs ?? {}
  const unproved = charges.filter((charge) => !stored[charge.id] && chains.has(dayOf(charge)))
  if (unproved.length === 0) return stored
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ isMine: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended('proofs of public bills', 0)) as "isMine"`.execute(
      trx,
    )
    if (!rows[0]?.isMine) return stored
    const proofs = { ...stored, ...(await proveCharges(trx, unproved, chains)) }
    await trx
      .updateTable('public_bills')
      .set({ proofs: JSON.stringify(proofs) })
      .where('id', '=', bill.id)
      .execute()
    return proofs
  })
}

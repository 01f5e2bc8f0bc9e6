import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { StoredProofs } from '../../platform/db/tables.ts'
import { growMerkleTree } from '../ledger/audit/merkle-tree.ts'
import { readChargeLeaves } from '../ledger/audit/read-charge-leaves.ts'
import type { ChainOfDay } from './read-charge-chain.ts'

/** A tree has up to 20,000 leaves, which are read for its first proof. */
const TREES_MAX = 4

export interface SettledCharge {
  readonly id: string
  /** To the microsecond, in UTC. */
  readonly settledAt: string
}

/**
 * Where charges are in the trees of their seals. Charges of days that are not over have no proof yet, and one call reads
 * only a few trees: a later call finds the rest.
 */
export async function proveCharges(
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
    const places = new Map(leaves.map(({ id }, place) => [id, place]))
    for (const { id } of charges) {
      const place = places.get(id)
      if (place === undefined) continue
      const path = tree.pathOf(place).map(({ side, hash }) => ({
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

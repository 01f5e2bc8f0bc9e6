import { insertTeam } from '../../src/customers/teams.ts'
import { inTransaction, type Database } from '../../src/platform/db/open.ts'
import type { NanoBrl } from '../../src/platform/lib/money.ts'

/** A team without members or keys, whose account pays, with a monthly cap or none; returns its id. */
export async function seedTeam(
  db: Database,
  ownerId: string,
  { name = 'equipe', limitNanoBrl = null }: { name?: string; limitNanoBrl?: NanoBrl | null } = {},
): Promise<string> {
  const made = await inTransaction(db, (trx) => insertTeam(trx, { ownerId, name, limitNanoBrl }))
  if (made.kind !== 'created') throw new Error(made.kind)
  return made.id
}

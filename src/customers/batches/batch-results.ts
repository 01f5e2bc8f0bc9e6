import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { unseal } from '../../platform/lib/seal.ts'

/** The keys of the settings, with which the texts of files and batches are sealed. */
export interface SealingSettings {
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}

/** What is uploaded, and what a batch gives, is kept for so long. */
export const FILE_DAYS = 30
/** Lines are read together up to this size; a larger one alone. */
const READ_BYTES = 1024 * 1024
const PAGE = 1_000

/** The results of a batch as JSON lines, in the order of the batch. */
export async function* readResults(
  db: Database,
  { sealingKey, previousSealingKey }: SealingSettings,
  batchId: string,
  which: 'all' | 'succeeded' | 'failed',
): AsyncGenerator<Buffer> {
  const isWanted =
    which === 'all' ? sql`true` : sql`(outcome = 'succeeded') = ${which === 'succeeded'}`
  for (let after = -1; ;) {
    const { rows: sizes } = await sql<{ place: number; bytes: number }>`
      select place, result_bytes as bytes from batch_lines
      where batch_id = ${batchId} and place > ${after} and result_sealed is not null and ${isWanted}
      order by place limit ${PAGE}`.execute(db)
    for (const until of endsOf(sizes)) {
      const { rows } = await sql<{ id: string; sealed: Buffer }>`
        select id, result_sealed as sealed from batch_lines
        where batch_id = ${batchId} and place > ${after} and place <= ${until}
          and result_sealed is not null and ${isWanted}
        order by place`.execute(db)
      const lines = rows.map((row) => unseal(sealingKey, row.id, row.sealed, previousSealingKey))
      yield Buffer.concat(lines)
      after = until
    }
    if (sizes.length < PAGE) return
  }
}

/** The last place of each part that is read at once. */
function endsOf(sizes: readonly { readonly place: number; readonly bytes: number }[]): number[] {
  const ends: number[] = []
  let bytes = 0
  sizes.forEach(({ place, bytes: more }, index) => {
    bytes += more
    const next = sizes[index + 1]
    if (next && bytes + next.bytes <= READ_BYTES) return
    ends.push(place)
    bytes = 0
  })
  return ends
}

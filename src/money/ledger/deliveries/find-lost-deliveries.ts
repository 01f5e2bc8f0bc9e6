/**
 * After a restore: the answers that nodes delivered, by the notes on their disks, and whose charges the restored ledger
 * does not have, because they lie after the moment to which it was restored.
 */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../../platform/db/open.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'
import { COMPARED_AT_ONCE, findDeliveries, timeOfId } from './compare-deliveries.ts'
import { parseNoteFileName, readNotes } from './note-format.ts'

export interface LostDelivery {
  readonly holdId: string
  readonly nodeId: string
  /** When its hold was taken, by the node's clock. */
  readonly heldAt: Date
  readonly deliveredNanoBrl: NanoBrl
  readonly storedNanoBrl: NanoBrl | null
  /** `absent`: the ledger knows nothing of it. `open`: it has the hold without its charge. `differs`: another charge. */
  readonly state: 'absent' | 'open' | 'differs'
}

export interface LostDeliveries {
  readonly compared: number
  readonly unreadable: number
  readonly lost: readonly LostDelivery[]
}

/**
 * Finds answers that were delivered and not charged. `dirs` are folders with notes, compared or not. Files that were
 * last written before `since` are left out.
 */
export async function findLostDeliveries(
  db: Database,
  dirs: readonly string[],
  since: Date | undefined,
): Promise<LostDeliveries> {
  const delivered = new Map<string, { nodeId: string; deliveredNanoBrl: NanoBrl }>()
  const lost: LostDelivery[] = []
  let compared = 0
  let unreadable = 0
  const compare = async (): Promise<void> => {
    const ids = [...delivered.keys()].sort()
    for (let start = 0; start < ids.length; start += COMPARED_AT_ONCE) {
      const some = ids.slice(start, start + COMPARED_AT_ONCE)
      const found = await findDeliveries(db, some)
      for (const holdId of some) {
        const stored = found.get(holdId)
        const storedNanoBrl = stored?.billedNanoBrl ?? null
        const note = delivered.get(holdId) as { nodeId: string; deliveredNanoBrl: NanoBrl }
        if (storedNanoBrl === note.deliveredNanoBrl && !stored?.isOpen) continue
        const state = !stored ? 'absent' : stored.isOpen ? 'open' : 'differs'
        lost.push({ holdId, heldAt: new Date(timeOfId(holdId)), ...note, storedNanoBrl, state })
      }
    }
    compared += ids.length
    delivered.clear()
  }
  for (const path of await listFiles(dirs, since)) {
    const { nodeId } = path
    const { notes, badCount } = readNotes(await readFile(path.path))
    unreadable += badCount
    for (const { holdId, deliveredNanoBrl } of notes)
      delivered.set(holdId, { nodeId, deliveredNanoBrl })
    if (delivered.size >= COMPARED_AT_ONCE) await compare()
  }
  await compare()
  return { compared, unreadable, lost: lost.toSorted((one, other) => +one.heldAt - +other.heldAt) }
}

async function listFiles(
  dirs: readonly string[],
  since: Date | undefined,
): Promise<{ path: string; nodeId: string; mtimeMs: number }[]> {
  const files = []
  for (const dir of dirs) {
    for (const name of await readdir(dir).catch(() => [])) {
      const file = parseNoteFileName(name)
      if (!file) continue
      const path = join(dir, name)
      const { mtimeMs } = await stat(path)
      if (since === undefined || mtimeMs >= since.getTime())
        files.push({ path, nodeId: file.nodeId, mtimeMs })
    }
  }
  // The last note of an answer counts.
  return files.toSorted((one, other) => one.mtimeMs - other.mtimeMs)
}

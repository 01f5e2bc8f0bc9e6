/**
 * Compares the notes of delivered answers on this machine's disk with the usage events. An answer whose hold is
 * still open, or whose resolution waits in a spool, is compared again later. An answer whose charge is missing or has
 * another amount becomes a row of `delivery_discrepancies`, which is open until a correction makes both equal. A file
 * without waiting answers is kept for a while (`keep-notes.ts`).
 */
import { readdir, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Database } from '../../../platform/db/open.ts'
import type { Log } from '../../../platform/lib/log.ts'
import { isRunning } from '../../../platform/lib/process-identity.ts'
import { COMPARED_AT_ONCE, findDeliveries } from './compare-deliveries.ts'
import { recheckDiscrepancies, storeDiscrepancies, type Discrepancy } from './discrepancies.ts'
import { keepNotes, pruneKeptNotes, type KeptNotes } from './keep-notes.ts'
import { parseNoteFileName, readNotes, type NoteFileName } from './note-format.ts'

export interface VerifiedDeliveries {
  /** Answers that were compared. */
  readonly compared: number
  /** Compared answers with a discrepancy, without those that are compared again later. */
  readonly discrepancies: number
  /** Holds that are open, or wait in a spool. */
  readonly waiting: number
}

export interface VerifyDeps {
  readonly db: Database
  readonly dir: string
  readonly log: Log
  /** Whether a resolution of the hold waits on this node's disk. */
  readonly isSpooled: (holdId: string) => boolean
  readonly kept: KeptNotes
  readonly nowMs?: number
}

/** Settlements arrive within a second; those of nodes that died arrive within a minute. */
const COMPARED_AFTER_MS = 90_000
const WAITED_FOR_MS_MAX = 600_000

export async function verifyDeliveries(deps: VerifyDeps): Promise<VerifiedDeliveries> {
  const { db, dir, log, kept, nowMs = Date.now() } = deps
  await recheckDiscrepancies(db)
  const total = { compared: 0, discrepancies: 0, waiting: 0 }
  for (const file of await listFinished(dir)) {
    const path = join(dir, file.name)
    const ageMs = nowMs - (await stat(path)).mtimeMs
    if (ageMs < COMPARED_AFTER_MS) continue
    const { notes, badCount } = readNotes(await readFile(path))
    if (badCount > 0) log.error('delivery_notes_unreadable', { file: file.name, count: badCount })
    const delivered = new Map(
      notes.map(({ holdId, deliveredNanoBrl }) => [holdId, deliveredNanoBrl]),
    )
    const { waiting, wrong } = await compare(deps, file.nodeId, delivered)
    const waitedFor = ageMs < WAITED_FOR_MS_MAX ? waiting : []
    const discrepancies = waitedFor === waiting ? wrong : [...wrong, ...waiting]
    await storeDiscrepancies(db, discrepancies, log)
    if (waitedFor.length === 0) await keepNotes(path, kept)
    total.compared += delivered.size
    total.discrepancies += discrepancies.length
    total.waiting += waitedFor.length
  }
  await pruneKeptNotes(kept, nowMs)
  return total
}

async function compare(
  { db, isSpooled }: VerifyDeps,
  nodeId: string,
  delivered: ReadonlyMap<string, bigint>,
): Promise<{ waiting: Discrepancy[]; wrong: Discrepancy[] }> {
  const waiting: Discrepancy[] = []
  const wrong: Discrepancy[] = []
  // Sorted by time, so that a statement searches few months.
  const ids = [...delivered.keys()].sort()
  for (let start = 0; start < ids.length; start += COMPARED_AT_ONCE) {
    const some = ids.slice(start, start + COMPARED_AT_ONCE)
    const found = await findDeliveries(db, some)
    for (const holdId of some) {
      const stored = found.get(holdId)
      const deliveredNanoBrl = delivered.get(holdId) as bigint
      const storedNanoBrl = stored?.billedNanoBrl ?? null
      const isSame = storedNanoBrl === deliveredNanoBrl
      if (isSame && !stored?.isOpen) continue
      const isWaiting = stored?.isOpen || isSpooled(holdId)
      ;(isWaiting ? waiting : wrong).push({ holdId, nodeId, deliveredNanoBrl, storedNanoBrl })
    }
  }
  return { waiting, wrong }
}

/** Files of processes that died are complete too. */
async function listFinished(dir: string): Promise<NoteFileName[]> {
  const finished: NoteFileName[] = []
  for (const name of await readdir(dir)) {
    const file = parseNoteFileName(name)
    if (file?.isDone) finished.push(file)
    else if (file && !isRunning(file.writtenBy)) {
      const done = name.replace(/writing$/, 'done')
      await rename(join(dir, name), join(dir, done))
      finished.push({ ...file, name: done, isDone: true })
    }
  }
  return finished
}

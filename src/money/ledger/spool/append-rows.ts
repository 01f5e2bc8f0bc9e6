import type { ResolutionRow } from '../resolution.ts'
import { appendDurably, cutTailAgain, SpoolAppendFailed } from './append-durably.ts'
import type { Disk } from './disk.ts'
import type { OwnFiles } from './own-files.ts'
import { frameRow } from './record-frames.ts'
import type { WriteOrder } from './write-order.ts'
import type { WaitingHolds } from './waiting-holds.ts'

/** All rows are on the disk when this resolves; none is replayed when it rejects. */
export async function appendRows(
  rows: readonly ResolutionRow[],
  deps: { disk: Disk; files: OwnFiles; waiting: WaitingHolds; order: WriteOrder },
): Promise<void> {
  const { disk, files, waiting, order } = deps
  if (files.list.some(({ hasTail }) => hasTail)) {
    await order.add(async () => {
      for (const file of files.list) await cutTailAgain(disk, file)
    })
  }
  const bytes = Buffer.from(rows.map(frameRow).join(''))
  for (let isInDoubt = false; ; isInDoubt = true) {
    const file = files.takeForAppend()
    try {
      if ((await appendDurably(disk, file, bytes)) === 'gone') {
        files.drop(file)
        continue
      }
    } catch (error) {
      if (!file.isOnDisk) files.drop(file)
      // The process that took the file before may have read the rows.
      throw isInDoubt ? new SpoolAppendFailed(error, true) : error
    }
    for (const { id } of rows) {
      if (!waiting.isNewestIn(id, file)) file.holdsInFile += 1
      waiting.note(id, file)
    }
    return
  }
}

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { release, toRow, type ResolutionRow } from '../../../src/money/ledger/resolution.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { createLog, type Log } from '../../../src/platform/lib/log.ts'

/** A row of any hold; `version` distinguishes rows of one hold. */
export function testRow(id: string = createId(), version = 0): ResolutionRow {
  const row = toRow(release({ id, customerId: createId() }, `versão ${version}`))
  return { ...row, duration_ms: version }
}

export const versionOf = (row: ResolutionRow): number => row.duration_ms as number

export function spoolFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'catraca-spool-'))
}

/** The logged events, in order. */
export function recordEvents(): { log: Log; events: string[] } {
  const events: string[] = []
  const log = createLog('debug', (line) =>
    events.push((JSON.parse(line) as { event: string }).event),
  )
  return { log, events }
}

/**
 * A process that appends to a spool without end, and reports each acknowledgement and refusal on its standard
 * output at once. Its parent kills it, or limits its file size.
 */
import { writeSync } from 'node:fs'
import { openSpool } from '../../../src/money/ledger/spool/spool.ts'
import { SpoolAppendFailed } from '../../../src/money/ledger/spool/append-durably.ts'
import { createId } from '../../../src/platform/lib/ids.ts'
import { createLog } from '../../../src/platform/lib/log.ts'
import { testRow } from './spool-rows.ts'

const [dir, attempts, atOnce] = process.argv.slice(2) as [string, string, string]
const spool = await openSpool({
  dir,
  nodeId: createId(),
  log: createLog('silent', () => {}),
  replay: async () => 'unreachable',
})

const append = async (): Promise<void> => {
  const row = testRow()
  // Records of all lengths.
  row.reason = 'x'.repeat(Math.floor(Math.random() * 2_000))
  try {
    await spool.append(row)
    writeSync(1, `kept ${row.id}\n`)
  } catch (error) {
    const mayRemain = error instanceof SpoolAppendFailed ? error.mayRemain : 'unknown'
    writeSync(1, `failed ${row.id} ${mayRemain}\n`)
  }
}

for (let done = 0; done < Number(attempts); done += Number(atOnce)) {
  await Promise.all(Array.from({ length: Number(atOnce) }, append))
}

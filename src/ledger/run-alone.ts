/**
 * A hold or a resolution that is alone in its batch: a statement of its own, of plain values. It does what
 * `ledger_batch` does with it, and takes the database a quarter less time.
 */
import type { CompositeField } from '../db/composite-text.ts'
import type { Attempt, Verdict } from './attempt.ts'
import type { LaneConnection } from './lane-connection.ts'
import { callerFields, callFields, ipWindow, keyWindow, resolutionFields } from './ledger-fields.ts'
import { readVerdict } from './read-verdict.ts'
import { readResolved, type Resolved, type ResolutionRow } from './resolution.ts'

const HOLD = { name: 'hold_alone', text: `select hold_alone(${places(23)})` }
/** Its commit does not wait for the disk, see `Attempt.mayLag`. */
const HOLD_LAGGING = {
  name: 'hold_alone_lagging',
  text: `select hold_alone(${places(23)}), set_config('synchronous_commit', 'off', true)`,
}
const RESOLVE = { name: 'resolve_alone', text: `select resolve_alone(${places(20)})` }

export async function holdAlone(
  connection: LaneConnection,
  nodeId: string,
  attempt: Attempt,
): Promise<Verdict> {
  const { mayLag, ip, key, ipLimit } = attempt
  const text = await connection.run(
    mayLag ? HOLD_LAGGING : HOLD,
    [
      nodeId,
      ipWindow(ip),
      keyWindow(key.id),
      ...callerFields(attempt),
      key.requestsPerMinute,
      ipLimit,
      ...callFields(attempt),
    ].map(toText),
  )
  const [at, verdict] = (text as string).split(';')
  return readVerdict(verdict as string, Number(at))
}

export async function resolveAlone(
  connection: LaneConnection,
  row: ResolutionRow,
): Promise<Resolved> {
  const word = await connection.run(RESOLVE, resolutionFields(row).map(toText))
  return readResolved(word as string)
}

function places(count: number): string {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
}

function toText(field: CompositeField): string | null {
  return field === null || field === undefined ? null : String(field)
}

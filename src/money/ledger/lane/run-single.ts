/**
 * Runs a hold or a resolution that is the only work of its batch, as a separate statement with plain values. It has the
 * effect of `ledger_batch` and takes the database a quarter less time.
 */
import type { CompositeField } from '../../../platform/db/composite-text.ts'
import { FUNCTIONS_SCHEMA } from '../../../platform/db/functions.ts'
import type { Attempt, Verdict } from '../attempt.ts'
import type { LaneConnection } from './lane-connection.ts'
import {
  attemptFields,
  inOrder,
  ipWindow,
  keyWindow,
  RESOLUTION_FIELDS,
  TAKE_HOLD_FIELDS,
} from './ledger-fields.ts'
import { readVerdict } from './read-verdict.ts'
import { readResolved, type Resolved, type ResolutionRow } from '../resolution.ts'

const TAKE_HOLD = {
  name: 'take_hold',
  text: `select ${FUNCTIONS_SCHEMA}.take_hold(${placeholders(TAKE_HOLD_FIELDS.length)})`,
}
/** Its commit does not wait for the disk, see `Attempt.commitsAsynchronously`. */
const TAKE_HOLD_ASYNCHRONOUSLY = {
  name: 'take_hold_asynchronously',
  text: `select ${FUNCTIONS_SCHEMA}.take_hold(${placeholders(TAKE_HOLD_FIELDS.length)}), set_config('synchronous_commit', 'off', true)`,
}
const RESOLVE_HOLD = {
  name: 'resolve_hold',
  text: `select ${FUNCTIONS_SCHEMA}.resolve_hold(${placeholders(RESOLUTION_FIELDS.length)})`,
}

export async function takeHold(
  connection: LaneConnection,
  nodeId: string,
  attempt: Attempt,
): Promise<Verdict> {
  const values = inOrder(TAKE_HOLD_FIELDS, {
    ...attemptFields(attempt),
    node_id: nodeId,
    ip_subject: attempt.ip === null ? null : ipWindow(attempt.ip),
    key_subject: keyWindow(attempt.key.id),
  })
  const text = await connection.run(
    attempt.commitsAsynchronously ? TAKE_HOLD_ASYNCHRONOUSLY : TAKE_HOLD,
    values.map(toText),
  )
  const [at, verdict] = (text as string).split(';')
  return readVerdict(verdict as string, Number(at))
}

export async function resolveHold(
  connection: LaneConnection,
  row: ResolutionRow,
): Promise<Resolved> {
  const values = inOrder(RESOLUTION_FIELDS, row)
  return readResolved((await connection.run(RESOLVE_HOLD, values.map(toText))) as string)
}

function placeholders(count: number): string {
  return Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')
}

function toText(field: CompositeField): string | null {
  return field === null || field === undefined ? null : String(field)
}

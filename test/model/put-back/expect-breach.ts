import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Vocabulary } from '../generate-schedule.ts'
import { assertPutBack } from './put-back.ts'

/** The maximum number of schedules until the fault is found; a few dozen are typical. */
const SCHEDULES_MAX = 3_000

/**
 * Proves that the model finds this fault: with the fault put back it fails, and names it. It imports modules only
 * here, so that they contain the fault.
 */
export function expectBreach(
  guarantee: string,
  fault: {
    readonly prepare?: string
    readonly vocabulary: Partial<Vocabulary>
    readonly seed: number
    readonly says: RegExp
  },
): void {
  test(guarantee, async (context) => {
    const { explore } = await import('../explore.ts')
    const { NOTHING } = await import('../generate-schedule.ts')
    const { ran, failures } = await explore({
      vocabulary: { ...NOTHING, ...fault.vocabulary },
      count: SCHEDULES_MAX,
      seed: fault.seed,
      prepare: fault.prepare,
      worlds: 2,
      shrinkMsMax: 0,
      stopsAtFirst: true,
      only: fault.says,
    })
    assertPutBack()
    assert.ok(failures.length > 0, `nothing was found in ${ran} schedules`)
    context.diagnostic(`found after ${ran} schedules`)
  })
}

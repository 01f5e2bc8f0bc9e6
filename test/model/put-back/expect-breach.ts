import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Vocabulary } from '../generate-schedule.ts'

/** Schedules within which it must be found; it mostly takes a few dozen. */
const SCHEDULES_MAX = 3_000

/**
 * The proof that the model is worth something: with this fault put back it fails, and says why. Modules are loaded
 * here and not before, so that what was put back into their files is there.
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
    })
    const [failure] = failures
    assert.ok(failure, `nothing was found in ${ran} schedules`)
    assert.match(failure.message, fault.says)
    context.diagnostic(`found after ${ran} schedules`)
  })
}

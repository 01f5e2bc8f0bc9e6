import { randomUUID } from 'node:crypto'
import type { DeltaShape, TextDelta } from '../../providers/contract.ts'

/** Stands for the text of a delta, to find its place in the written event. No upstream can know it. */
const MARK = randomUUID()

export interface DeltaWriter {
  /** The event of a delta; empty if the customer must not see it. */
  write(this: void, delta: TextDelta): string
  /** The next delta is written as a whole, because what is shown of its shape may have changed. */
  forget(): void
}

/** Writes deltas of the same shape by what stands before and after their text in one that `write` wrote as a whole. */
export function createDeltaWriter(write: (like: DeltaShape, text: string) => string): DeltaWriter {
  let like: DeltaShape | undefined
  let before = ''
  let after: string | undefined
  return {
    write(delta) {
      if (delta.like !== like) {
        like = delta.like
        ;[before = '', after] = write(like, MARK).split(MARK)
      }
      return after === undefined ? '' : before + delta.json + after
    },
    forget() {
      like = undefined
    },
  }
}

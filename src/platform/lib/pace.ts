import { setTimeout as sleep } from 'node:timers/promises'

/** Spreads work over time: each subject within its own pace, and all subjects together within another. */
export interface Pace {
  /** Resolves when this much work may begin; undefined if it may begin at once. */
  wait(subject: string, amount: number): Promise<void> | undefined
}

/** Subjects that are forgotten once their work is done. */
const SUBJECTS_KEPT = 1_000

export function createPace(
  { perSecond, ownPerSecond }: { readonly perSecond: number; readonly ownPerSecond: number },
  now: () => number = () => performance.now(),
  pause: (ms: number) => Promise<unknown> = sleep,
): Pace {
  /** When the work that was begun is done at the given pace, in milliseconds. */
  const ownFreeAt = new Map<string, number>()
  let allFreeAt = 0

  function takeOwn(subject: string, amount: number): number {
    const at = now()
    if (ownFreeAt.size >= SUBJECTS_KEPT)
      for (const [each, freeAt] of ownFreeAt) if (freeAt <= at) ownFreeAt.delete(each)
    const startAt = Math.max(at, ownFreeAt.get(subject) ?? 0)
    ownFreeAt.set(subject, startAt + (amount / ownPerSecond) * 1_000)
    return startAt - at
  }

  /** Called when the subject's own turn has come, so that one subject's queue delays no other. */
  function takeAll(amount: number): number {
    const at = now()
    const startAt = Math.max(at, allFreeAt)
    allFreeAt = startAt + (amount / perSecond) * 1_000
    return startAt - at
  }

  async function waitBoth(ownMs: number, amount: number): Promise<void> {
    await pause(ownMs)
    const ms = takeAll(amount)
    if (ms > 0) await pause(ms)
  }

  return {
    wait(subject, amount) {
      const ownMs = takeOwn(subject, amount)
      if (ownMs > 0) return waitBoth(ownMs, amount)
      const ms = takeAll(amount)
      return ms > 0 ? pause(ms).then(() => undefined) : undefined
    },
  }
}

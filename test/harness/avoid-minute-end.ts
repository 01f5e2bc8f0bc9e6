import { setTimeout as sleep } from 'node:timers/promises'

/** Waits if a minute, and perhaps a day, would end during the test: a count across that boundary would prove nothing. */
export async function avoidMinuteEnd(ms = 3_000): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < ms) await sleep(left + 100)
}

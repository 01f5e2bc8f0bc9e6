import { setTimeout as sleep } from 'node:timers/promises'

/** Waits where a minute, and with it maybe a day, would end in between: a count across it would prove nothing. */
export async function awayFromMinuteEnd(ms = 3_000): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000)
  if (left < ms) await sleep(left + 100)
}

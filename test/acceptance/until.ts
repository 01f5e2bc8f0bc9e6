import { setTimeout as sleep } from 'node:timers/promises'

/** Whether it holds within the time. */
export async function until(holds: () => Promise<boolean>, msMax = 15_000): Promise<boolean> {
  for (const end = Date.now() + msMax; Date.now() < end; await sleep(100))
    if (await holds()) return true
  return false
}

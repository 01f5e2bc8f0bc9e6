import type { Language } from './language.ts'
import { knownLanguage } from './language.ts'

const KEY = 'catraca.language.for-account'
/** Long enough to sign in, also with a new account. A person who signs in later did not make the choice. */
const CHOICE_MS_MAX = 3_600_000

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem'>

/** A language that was chosen without an account waits for one. */
export function keepChoice(storage: Storage, chosen: Language, nowMs: number): void {
  storage.setItem(KEY, `${chosen} ${nowMs}`)
}

/** The choice that waits, which is used up; undefined if there is none, or if it is old. */
export function takeChoice(storage: Storage, nowMs: number): Language | undefined {
  const [chosen = '', atMs] = (storage.getItem(KEY) ?? '').split(' ')
  storage.removeItem(KEY)
  const ageMs = nowMs - Number(atMs ?? NaN)
  return ageMs >= 0 && ageMs <= CHOICE_MS_MAX ? knownLanguage([chosen]) : undefined
}

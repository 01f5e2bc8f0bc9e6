/**
 * Whose language it is: the account's; before sign-in the one last used in this browser, or the first of the browser's
 * languages that the dashboard has.
 */
import { api } from '../api/client.ts'
import { keepChoice, takeChoice } from './choice-for-account.ts'
import { knownLanguage, language, setLanguage, SOURCE_LANGUAGE, type Language } from './language.ts'

const KEY = 'catraca.language'

/** Before the first page is drawn. Without its catalogue the dashboard stays in Portuguese. */
export async function startLanguage(): Promise<void> {
  const chosen = knownLanguage([read(KEY) ?? '', ...navigator.languages]) ?? SOURCE_LANGUAGE
  await setLanguage(chosen).catch(() => {})
}

/** The switch of the pages without an account. */
export async function chooseLanguage(chosen: Language): Promise<void> {
  await setLanguage(chosen)
  write(KEY, chosen)
  keepForAccount()
}

/** The account that signs in here next, and soon, gets the language of this page: it was chosen, or the account is new. */
export function keepForAccount(): void {
  try {
    keepChoice(localStorage, language(), Date.now())
  } catch {
    // Without storage the account keeps its own language.
  }
}

/** Takes the account's language, or gives it the one that was chosen before sign-in. */
export async function followAccount(preferredLocale: string): Promise<void> {
  const ofAccount = knownLanguage([preferredLocale]) ?? SOURCE_LANGUAGE
  const chosen = chosenBefore()
  if (chosen !== undefined && chosen !== ofAccount)
    await api.put('/me/preferences', { preferred_locale: chosen })
  await takeLanguage(chosen ?? ofAccount)
}

/** The account's language was changed on this page. */
export async function takeLanguage(chosen: Language): Promise<void> {
  write(KEY, chosen)
  await setLanguage(chosen)
}

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

function chosenBefore(): Language | undefined {
  try {
    return takeChoice(localStorage, Date.now())
  } catch {
    return undefined
  }
}

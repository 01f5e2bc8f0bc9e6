/**
 * Whose language it is: the account's; before sign-in the one last used in this browser, or the first of the browser's
 * languages that the dashboard has.
 */
import { api } from '../api/client.ts'
import { keepChoice, takeChoice } from './choice-for-account.ts'
import { knownLanguage, language, setLanguage, SOURCE_LANGUAGE, type Language } from './language.ts'

/** Also read and written by the pages of the server (`src/http/rest/request-headers.ts`). */
const COOKIE = 'catraca.language'
const COOKIE_SECONDS = 365 * 86_400

/** Before the first page is drawn. Without its catalogue the dashboard stays in Portuguese. */
export async function startLanguage(): Promise<void> {
  const chosen = knownLanguage([read(), ...navigator.languages]) ?? SOURCE_LANGUAGE
  await setLanguage(chosen).catch(() => {})
}

/** The switch of the pages without an account. */
export async function chooseLanguage(chosen: Language): Promise<void> {
  await setLanguage(chosen)
  write(chosen)
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
  write(chosen)
  await setLanguage(chosen)
}

function read(): string {
  const [, chosen = ''] = /(?:^|; )catraca\.language=([\w-]+)/.exec(document.cookie) ?? []
  return chosen
}

/** Without cookies the choice lasts until the page is closed. */
function write(chosen: Language): void {
  const secure = window.location.protocol === 'https:' ? '; Secure' : ''
  document.cookie = `${COOKIE}=${chosen}; Path=/; Max-Age=${COOKIE_SECONDS}; SameSite=Lax${secure}`
}

function chosenBefore(): Language | undefined {
  try {
    return takeChoice(localStorage, Date.now())
  } catch {
    return undefined
  }
}

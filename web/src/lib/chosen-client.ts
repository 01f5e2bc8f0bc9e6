/**
 * The language of code that was chosen last in this browser, in the documentation or the dashboard: it stands first in
 * both. Agents are no languages, so whoever looks at one keeps their language.
 */
const KEY = 'catraca.client'
const LANGUAGES = new Set(['curl', 'python', 'javascript'])

export function chosenClient(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

export function chooseClient(id: string): void {
  if (!LANGUAGES.has(id)) return
  try {
    localStorage.setItem(KEY, id)
  } catch {
    // Without storage the samples stay in their order.
  }
}

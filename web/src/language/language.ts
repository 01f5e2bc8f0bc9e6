/**
 * The language of the dashboard. Portuguese is the language of the source: its texts are the ids of the messages, so it
 * needs no catalogue. The catalogue of another language loads when that language is chosen.
 */
import { i18n } from '@lingui/core'
import { compileMessage } from '@lingui/message-utils/compileMessage'

export type Language = 'pt-BR' | 'en-US'

export const SOURCE_LANGUAGE = 'pt-BR' satisfies Language

const compiled = new Map<string, ReturnType<typeof compileMessage>>()

// Lingui keeps nothing of what it compiles, and a list has the same message in every row.
i18n.setMessagesCompiler((message) => {
  const known = compiled.get(message)
  if (known) return known
  const made = compileMessage(message)
  compiled.set(message, made)
  return made
})
loadCatalogue(SOURCE_LANGUAGE, {})

let wanted: Language = SOURCE_LANGUAGE

export function language(): Language {
  return i18n.locale as Language
}

/** Resolves once every text that is rendered from now on is in the language. */
export async function setLanguage(chosen: Language): Promise<void> {
  wanted = chosen
  if (chosen === language()) return
  const messages = chosen === SOURCE_LANGUAGE ? {} : await loadEnglish()
  // A later choice may have come while the catalogue loaded.
  if (wanted !== chosen) return
  loadCatalogue(chosen, messages)
}

export function loadCatalogue(chosen: Language, messages: Record<string, string>): void {
  i18n.loadAndActivate({ locale: chosen, messages })
}

async function loadEnglish(): Promise<Record<string, string>> {
  return (await import('./en.json')).default
}

/** The first of a browser's or an account's languages that the dashboard has; others are ignored. */
export function knownLanguage(tags: readonly string[]): Language | undefined {
  for (const tag of tags) {
    if (/^pt\b/i.test(tag)) return 'pt-BR'
    if (/^en\b/i.test(tag)) return 'en-US'
  }
  return undefined
}

import { i18n } from '@lingui/core'
import { useSyncExternalStore } from 'react'
import { language, type Language } from './language.ts'

/**
 * Draws the component again when the language changes, with what it renders: each layout and each page calls it, so that a
 * change of the language loses nothing that was typed.
 */
export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, language, language)
}

function subscribe(onChange: () => void): () => void {
  return i18n.on('change', onChange)
}

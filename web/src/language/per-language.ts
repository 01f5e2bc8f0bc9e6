import { language, type Language } from './language.ts'

/**
 * A constant with texts: made when it is first asked for in a language, and kept. A module is loaded once, and the
 * language may change afterwards.
 */
export function perLanguage<T>(make: () => T): () => T {
  let madeFor: Language | undefined
  let made: T
  return () => {
    if (madeFor !== language()) {
      made = make()
      madeFor = language()
    }
    return made
  }
}

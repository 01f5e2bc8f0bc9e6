/**
 * The language of the mails and pages that the server writes. Portuguese is that of the source: its texts are the keys of
 * `en.json`, in which `{0}` stands for the first value. Whoever asks for nothing gets Portuguese.
 */
import texts from './en.json' with { type: 'json' }

export type Language = 'pt-BR' | 'en-US'

const SOURCE_LANGUAGE = 'pt-BR'
const ENGLISH: ReadonlyMap<string, string> = new Map(Object.entries(texts))

let current: Language = SOURCE_LANGUAGE

export function language(): Language {
  return current
}

/** Writes something in a language. `write` must not wait: everything that is written meanwhile would be in that language. */
export function inLanguage<T>(
  chosen: Language,
  write: () => T extends PromiseLike<unknown> ? never : T,
): T {
  const before = current
  current = chosen
  try {
    return write()
  } finally {
    current = before
  }
}

/** Returns the language of a locale such as `en-GB`; Portuguese for one that we do not have. */
export function languageOf(locale: string): Language {
  return /^en\b/i.test(locale) ? 'en-US' : SOURCE_LANGUAGE
}

/**
 * A text in the language that is being written: t`Recarga de ${amount}`, or t('Recarga'). Its values are not translated: they
 * may be the words of a customer.
 */
export function t(
  text: string | TemplateStringsArray,
  ...values: readonly (string | number)[]
): string {
  const key = typeof text === 'string' ? text : textKey(text)
  const found = current === SOURCE_LANGUAGE ? key : (findEnglish(key) ?? key)
  if (values.length === 0) return found
  return found.replaceAll(/\{(\d+)\}/g, (_, place) => String(values[Number(place)]))
}

export function findEnglish(key: string): string | undefined {
  return ENGLISH.get(key)
}

/** The key of a template: its fixed parts around `{0}`, `{1}`. */
export function textKey(parts: readonly string[]): string {
  return parts.map((part, place) => (place === 0 ? part : `{${place - 1}}${part}`)).join('')
}

const isEnglish = document.documentElement.lang === 'en-US'

/** The text in the language of the page. */
export function say(portuguese: string, english: string): string {
  return isEnglish ? english : portuguese
}

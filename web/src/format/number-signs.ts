import { language } from '../language/language.ts'

/** What stands between thousands, and before the decimals. */
export function signsOfNumbers(): { readonly group: string; readonly point: string } {
  return language() === 'pt-BR' ? { group: '.', point: ',' } : { group: ',', point: '.' }
}

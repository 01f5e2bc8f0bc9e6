import { i18n } from '@lingui/core'
import './language.ts'

export type TextValues = Readonly<
  Record<string, string | number | bigint | boolean | null | undefined>
>

/**
 * A text in the language of the dashboard; `text` is the Portuguese one. With values it is an ICU message: `{name}` stands
 * for a value. Without values it is taken literally. A `context` tells apart what only Portuguese says with one word.
 */
export function t(text: string, values?: TextValues, context?: string): string {
  const id = context === undefined ? text : `${text} (${context})`
  if (values) return i18n._(id, { ...values }, { message: text })
  return (i18n.messages[id] as string | undefined) ?? text
}

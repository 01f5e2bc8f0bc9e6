import { i18n } from '@lingui/core'
import './language.ts'

export type TextValues = Readonly<
  Record<string, string | number | bigint | boolean | null | undefined>
>

/**
 * A text in the language of the dashboard; `text` is the Portuguese one. With values it is an ICU message: `{name}` stands
 * for a value. Without values it is taken literally.
 */
export function t(text: string, values?: TextValues): string {
  if (values) return i18n._(text, { ...values })
  return (i18n.messages[text] as string | undefined) ?? text
}

import { t } from '../../language/t.ts'

/** Explains why an e-mail address is invalid; undefined when no fault is visible. */
export function emailFault(email: string): string | undefined {
  const text = email.trim()
  if (text === '') return t('Digite seu e-mail.')
  if (!/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) {
    return t('Confira o e-mail: ele deve ser como voce@exemplo.com.br.')
  }
  return undefined
}

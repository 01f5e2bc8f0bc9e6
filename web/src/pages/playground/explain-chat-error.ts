import type { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

/** Texts that help a reader of the dashboard more than the gateway's, which are written for programs. */
const TEXTS = perLanguage((): Readonly<Record<string, string>> => ({
  authentication_failed: t(
    'Esta chave não vale mais: foi revogada, venceu ou é de outra conta. Escolha outra em “Chave”.',
  ),
}))

/** The gateway's own messages are in Portuguese and name the next step. */
export function explainChatError(error: ApiError): string {
  const { code, details, status } = error
  const text = TEXTS()[code]
  if (text !== undefined) return text
  return status >= 400 && details !== undefined ? details : explainError(error)
}

/** A link to the page where the user can resolve the error. */
export function wayOut(
  code: string,
): { readonly to: '/recargas' | '/chaves' | '/modelos'; readonly text: string } | undefined {
  switch (code) {
    case 'insufficient_balance':
    case 'balance_on_hold':
      return { to: '/recargas', text: t('Fazer uma recarga') }
    case 'key_budget_exceeded':
    case 'team_cap_exceeded':
    case 'key_model_access_denied':
    case 'ip_blocked_by_allowlist':
    case 'authentication_failed':
    case 'api_key_rate_limited':
      return { to: '/chaves', text: t('Ver as chaves') }
    case 'model_not_found':
      return { to: '/modelos', text: t('Ver os modelos') }
    default:
      return undefined
  }
}

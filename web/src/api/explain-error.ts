/**
 * Explains an error in plain Portuguese, with the next step. A page may have a more specific text of its own.
 */
import { ApiError } from './api-error.ts'
import { ERROR_TEXTS } from './error-texts.ts'
import { t } from '../language/t.ts'

export function explainError(error: unknown): string {
  if (!(error instanceof ApiError)) return ERROR_TEXTS().internal_error as string
  const text = ERROR_TEXTS()[error.code]
  if (text !== undefined) return text
  if (error.status === 404 || error.code.endsWith('_not_found')) {
    return t(
      'Não encontramos o que você procura. Pode ter sido removido: volte e atualize a lista.',
    )
  }
  if (error.status === 403) return t('Sua conta não tem permissão para fazer isso.')
  if (error.status === 409) {
    return t('Isso mudou enquanto a página estava aberta. Atualize-a e tente de novo.')
  }
  if (error.status >= 500) return ERROR_TEXTS().internal_error as string
  return t('Não deu certo. Confira os dados e tente de novo.')
}

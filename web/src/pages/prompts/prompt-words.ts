import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import { counted } from '../../format/number.ts'
import type { RunAnswer } from './prompt-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export const NAME_LENGTH_MAX = 120
export const DESCRIPTION_LENGTH_MAX = 2_000
export const BODY_LENGTH_MAX = 32_000
export const NOTE_LENGTH_MAX = 200
export const TAGS_MAX = 20
export const TAG_LENGTH_MAX = 24

const FIELDS = perLanguage((): Readonly<Record<string, string>> => ({
  name: t('O nome tem de 3 a 120 letras.'),
  body: t('O texto tem de 1 a 32.000 caracteres.'),
  description: t('A descrição tem até 2.000 caracteres.'),
  variables: t('Há uma variável no texto que não está na lista. Confira o texto e salve de novo.'),
  tags: t('Até 20 tags, de até 24 letras cada uma.'),
  default_model: t('Este modelo saiu do catálogo. Escolha outro modelo padrão.'),
  parameters: t('Confira o limite da resposta e a temperatura.'),
  change_note: t('A nota pode ter até 200 caracteres.'),
  model: t('Escolha o modelo: este prompt não tem um padrão.'),
  max_tokens: t('O máximo de tokens é um número inteiro a partir de 1.'),
  temperature: t('A temperatura vai de 0 a 2.'),
  values: t('Preencha todas as variáveis. Se o prompt mudou, atualize a página.'),
  api_key_id: t('Escolha outra chave: com esta não dá para executar daqui.'),
}))

const RUN_REFUSALS = perLanguage((): Readonly<Record<string, string>> => ({
  key_not_found: t('Esta chave não vale mais. Escolha outra.'),
  payload_too_large: t('Com estes valores o texto fica grande demais. Encurte-os.'),
  prompt_not_found: t('Este prompt foi excluído. Volte e atualize a lista.'),
}))
/**
 * The API's field errors, as in `values.nome: is required`; other details are the gateway's messages for
 * people.
 */
const FIELD_DETAILS = /^[\w.]+: /

export function explainPromptError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  const field = error.field?.split('.', 1)[0]
  return (field === undefined ? undefined : FIELDS()[field]) ?? explainError(error)
}

export function explainRunError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  const { code, details } = error
  const text = RUN_REFUSALS()[code]
  if (text !== undefined) return text
  if (details !== undefined && !FIELD_DETAILS.test(details)) return details
  return explainPromptError(error)
}

export function isGone(error: Error): boolean {
  return error instanceof ApiError && error.status === 404
}

/** Explains why an answer is incomplete. */
export function finishWords({ choices: [choice] }: RunAnswer): string | undefined {
  switch (choice?.finish_reason) {
    case 'length':
      return t('A resposta parou no máximo de tokens. Aumente-o para ver o resto.')
    case 'content_filter':
      return t('O provedor cortou a resposta pelo filtro de conteúdo dele.')
    case undefined:
      return t('O modelo não respondeu nada.')
    default:
      return undefined
  }
}

export function variableWords(count: number): string {
  return count === 0 ? t('sem variáveis') : counted(count, t('variável'), t('variáveis'))
}

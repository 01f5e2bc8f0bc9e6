import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import type { BadgeTone } from '../../components/Badge.tsx'
import type { Attempt, AttemptStatus, Webhook } from './webhook-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export const STATUS_WORDS = perLanguage(
  (): Readonly<Record<AttemptStatus, { text: string; tone: BadgeTone }>> => ({
    queued: { text: t('na fila'), tone: 'neutral' },
    running: { text: t('enviando'), tone: 'accent' },
    delivered: { text: t('entregue'), tone: 'success' },
    failed: { text: t('falhou'), tone: 'danger' },
  }),
)

/** Why an attempt failed, and how to fix it. */
export function attemptErrorWords({
  error,
  http_status,
}: Pick<Attempt, 'error' | 'http_status'>): string | undefined {
  if (error === null) return undefined
  if (error === 'timeout') return t('O destino demorou demais para responder.')
  if (error === 'refused_address') return t('O endereço leva a uma rede privada.')
  if (error === 'bad_url') return t('O endereço não é válido.')
  if (error === 'gone') return t('O destino respondeu 410: não existe mais.')
  if (error === 'redirect')
    return t('O destino respondeu com um redirecionamento, que não é seguido.')
  if (error === 'http_status')
    return t('O destino respondeu {httpStatus}.', { httpStatus: http_status ?? t('com um erro') })
  return t('Não deu para conectar ao destino.')
}

const DISABLED_WORDS = perLanguage(
  (): Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> => ({
    customer: t('Desligado por você.'),
    gone: t(
      'Desligado porque o destino respondeu que não existe mais (410). Corrija e ligue de novo.',
    ),
    failing: t('Desligado porque as entregas falharam por muito tempo. Corrija e ligue de novo.'),
  }),
)

export function disabledWords({ disabled_reason }: Webhook): string | undefined {
  return disabled_reason === null ? undefined : DISABLED_WORDS()[disabled_reason]
}

const ERROR_WORDS = perLanguage((): Readonly<Record<string, string>> => ({
  too_many_webhooks: t('Você já tem o máximo de 20 webhooks. Exclua um para criar outro.'),
  webhook_disabled: t('Este webhook está desligado. Ligue de novo para enviar.'),
  too_many_queued: t('Há mensagens demais na fila. Espere que elas saiam e tente de novo.'),
  webhook_not_found: t('Este webhook não existe mais. Volte à lista.'),
  webhook_attempt_not_found: t('Esta tentativa não existe mais: elas ficam por 30 dias.'),
}))

export function explainWebhookError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.field === 'url') {
    const fault = error.details?.replace(/^url: /, '') ?? t('não é válido')
    return t('O endereço {fault}.', { fault })
  }
  return ERROR_WORDS()[error.code] ?? explainError(error)
}

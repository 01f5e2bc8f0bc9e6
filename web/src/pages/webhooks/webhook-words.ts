import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import type { BadgeTone } from '../../components/Badge.tsx'
import type { Attempt, AttemptStatus, Webhook } from './webhook-queries.ts'

export const STATUS_WORDS: Readonly<Record<AttemptStatus, { text: string; tone: BadgeTone }>> = {
  queued: { text: 'na fila', tone: 'neutral' },
  running: { text: 'enviando', tone: 'accent' },
  delivered: { text: 'entregue', tone: 'success' },
  failed: { text: 'falhou', tone: 'danger' },
}

/** Why an attempt failed, and how to fix it. */
export function attemptErrorWords({
  error,
  http_status,
}: Pick<Attempt, 'error' | 'http_status'>): string | undefined {
  if (error === null) return undefined
  if (error === 'timeout') return 'O destino demorou demais para responder.'
  if (error === 'refused_address') return 'O endereço leva a uma rede privada.'
  if (error === 'bad_url') return 'O endereço não é válido.'
  if (error === 'gone') return 'O destino respondeu 410: não existe mais.'
  if (error === 'redirect') return 'O destino respondeu com um redirecionamento, que não é seguido.'
  if (error === 'http_status') return `O destino respondeu ${http_status ?? 'com um erro'}.`
  return 'Não deu para conectar ao destino.'
}

const DISABLED_WORDS: Readonly<Record<NonNullable<Webhook['disabled_reason']>, string>> = {
  customer: 'Desligado por você.',
  gone: 'Desligado porque o destino respondeu que não existe mais (410). Corrija e ligue de novo.',
  failing: 'Desligado porque as entregas falharam por muito tempo. Corrija e ligue de novo.',
}

export function disabledWords({ disabled_reason }: Webhook): string | undefined {
  return disabled_reason === null ? undefined : DISABLED_WORDS[disabled_reason]
}

const ERROR_WORDS: Readonly<Record<string, string>> = {
  too_many_webhooks: 'Você já tem o máximo de 20 webhooks. Exclua um para criar outro.',
  webhook_disabled: 'Este webhook está desligado. Ligue de novo para enviar.',
  too_many_queued: 'Há mensagens demais na fila. Espere que elas saiam e tente de novo.',
  webhook_not_found: 'Este webhook não existe mais. Volte à lista.',
  webhook_attempt_not_found: 'Esta tentativa não existe mais: elas ficam por 30 dias.',
}

export function explainWebhookError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.field === 'url') {
    const fault = error.details?.replace(/^url: /, '') ?? 'não é válido'
    return `O endereço ${fault}.`
  }
  return ERROR_WORDS[error.code] ?? explainError(error)
}

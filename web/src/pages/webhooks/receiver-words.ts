/** Words about what receives from us: webhooks, and destinations of usage. */
import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import type { BadgeTone } from '../../components/Badge.tsx'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import type { Destination } from '../usage-destinations/destination-queries.ts'
import type { Webhook } from './webhook-queries.ts'

export interface StateWords {
  readonly text: string
  readonly tone: BadgeTone
}

/** The state of a receiver; `working` when nothing is wrong with it. */
export function stateWords(
  {
    disabled_reason,
    failing_since,
  }: Pick<Webhook | Destination, 'disabled_reason' | 'failing_since'>,
  working: StateWords,
): StateWords {
  if (disabled_reason === 'customer') return { text: t('desligado'), tone: 'neutral' }
  if (disabled_reason !== null) return { text: t('desligado por falhas'), tone: 'danger' }
  return failing_since === null ? working : { text: t('falhando'), tone: 'warning' }
}

type ReceiverError = NonNullable<Destination['last_error']> | 'bad_url' | 'gone'

const ERROR_WORDS = perLanguage((): Readonly<Record<ReceiverError, string>> => ({
  timeout: t('O destino demorou demais para responder.'),
  refused_address: t('O endereço leva a uma rede privada.'),
  https_required: t('O endereço precisa começar com https://.'),
  bad_url: t('O endereço não é válido.'),
  connection_failed: t('Não deu para conectar ao destino.'),
  gone: t('O destino respondeu 410: não existe mais.'),
  redirect: t('O destino respondeu com um redirecionamento, que não é seguido.'),
  unauthorized: t('O destino não aceitou as chaves ou os cabeçalhos. Confira e informe de novo.'),
  not_found: t('Neste endereço não há quem receba spans. Confira o endereço.'),
  http_status: t('O destino respondeu com um erro.'),
  spans_refused: t('O destino recusou uma parte do que recebeu.'),
  batch_refused: t('O destino recusou o que recebeu, e isso não será enviado de novo.'),
  batch_too_large: t('O destino não aceita o tamanho do que foi enviado.'),
  secret_unreadable: t('As chaves guardadas não podem ser lidas. Informe-as de novo.'),
}))

/** Why something did not arrive, and how to fix it. With the status, where there is one. */
export function receiverErrorWords(error: string, httpStatus: number | null): string {
  if (error === 'http_status' && httpStatus !== null)
    return t('O destino respondeu {httpStatus}.', { httpStatus })
  const words: Readonly<Record<string, string>> = ERROR_WORDS()
  return words[error] ?? ERROR_WORDS().connection_failed
}

const REFUSAL_WORDS = perLanguage((): Readonly<Record<string, string>> => ({
  too_many_webhooks: t('Você já tem o máximo de 20 webhooks. Exclua um para criar outro.'),
  webhook_disabled: t('Este webhook está desligado. Ligue de novo para enviar.'),
  too_many_queued: t('Há mensagens demais na fila. Espere que elas saiam e tente de novo.'),
  webhook_not_found: t('Este webhook não existe mais. Volte à lista.'),
  webhook_attempt_not_found: t('Esta tentativa não existe mais: elas ficam por 30 dias.'),
  too_many_usage_destinations: t('Você já tem o máximo de 3 destinos. Exclua um para criar outro.'),
  usage_destination_disabled: t('Este destino está desligado. Ligue de novo para testar.'),
  usage_destination_not_found: t('Este destino não existe mais.'),
}))

export function explainReceiverError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.field === 'url') {
    const fault = error.details?.replace(/^url: /, '') ?? t('não é válido')
    return t('O endereço {fault}.', { fault })
  }
  return REFUSAL_WORDS()[error.code] ?? explainError(error)
}

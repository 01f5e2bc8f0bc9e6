import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import type { BadgeTone } from '../../components/Badge.tsx'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import type { Destination, DestinationKind } from './destination-queries.ts'

export const KIND_WORDS = perLanguage((): Readonly<Record<DestinationKind, string>> => ({
  langfuse: t('Langfuse'),
  otlp: t('Coletor OTLP'),
}))

export function stateWords(of: Destination): { text: string; tone: BadgeTone } {
  if (of.disabled_reason === 'customer') return { text: t('desligado'), tone: 'neutral' }
  if (of.disabled_reason === 'failing') return { text: t('desligado por falhas'), tone: 'danger' }
  if (of.failing_since !== null) return { text: t('falhando'), tone: 'warning' }
  if (of.last_success_at === null) return { text: t('nada enviado ainda'), tone: 'neutral' }
  return { text: t('enviando'), tone: 'success' }
}

type DestinationError = NonNullable<Destination['last_error']>

const ERROR_WORDS = perLanguage((): Readonly<Record<DestinationError, string>> => ({
  timeout: t('O destino demorou demais para responder.'),
  refused_address: t('O endereço leva a uma rede privada.'),
  https_required: t('O endereço precisa começar com https://.'),
  connection_failed: t('Não deu para conectar ao destino.'),
  redirect: t('O destino respondeu com um redirecionamento, que não é seguido.'),
  unauthorized: t('O destino não aceitou as chaves ou os cabeçalhos. Confira e informe de novo.'),
  not_found: t('Neste endereço não há quem receba spans. Confira o endereço.'),
  http_status: t('O destino respondeu com um erro.'),
  spans_refused: t('O destino recusou uma parte do que recebeu.'),
  batch_refused: t('O destino recusou o que recebeu, e isso não será enviado de novo.'),
  batch_too_large: t('O destino não aceita o tamanho do que foi enviado.'),
  secret_unreadable: t('As chaves guardadas não podem ser lidas. Informe-as de novo.'),
}))

/** With the status, where there is one. */
export function destinationErrorWords(error: DestinationError, httpStatus: number | null): string {
  return error === 'http_status' && httpStatus !== null
    ? t('O destino respondeu {httpStatus}.', { httpStatus })
    : ERROR_WORDS()[error]
}

const REFUSAL_WORDS = perLanguage((): Readonly<Record<string, string>> => ({
  too_many_usage_destinations: t('Você já tem o máximo de 3 destinos. Exclua um para criar outro.'),
  usage_destination_disabled: t('Este destino está desligado. Ligue de novo para testar.'),
  usage_destination_not_found: t('Este destino não existe mais.'),
}))

export function explainDestinationError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.field === 'url') {
    const fault = error.details?.replace(/^url: /, '') ?? t('não é válido')
    return t('O endereço {fault}.', { fault })
  }
  return REFUSAL_WORDS()[error.code] ?? explainError(error)
}

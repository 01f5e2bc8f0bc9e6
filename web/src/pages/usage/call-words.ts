import type { BadgeTone } from '../../components/Badge.tsx'
import { duration } from '../../format/duration.ts'
import type { Call } from './usage-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { language } from '../../language/language.ts'

const FAILURES = perLanguage(
  (): Readonly<Record<NonNullable<Call['failure']>, readonly [string, string]>> => ({
    client_left: [
      t('cliente saiu'),
      t('Seu programa desligou antes de a resposta chegar, e o modelo ainda não tinha trabalhado.'),
    ],
    request_refused: [
      t('requisição recusada'),
      t('O modelo não aceitou a requisição. O erro que seu programa recebeu diz por quê.'),
    ],
    model_busy: [
      t('modelo ocupado'),
      t('O modelo estava no limite dele. Tente de novo em instantes.'),
    ],
    model_slow: [t('sem resposta'), t('O modelo não respondeu a tempo.')],
    model_failed: [t('modelo falhou'), t('O modelo falhou antes de entregar a resposta.')],
    service_failed: [
      t('falha nossa'),
      t('A falha foi nossa. Se ela se repetir, fale com o suporte.'),
    ],
  }),
)

/** The status of a call as a badge; undefined for an ordinary charge. */
export function statusBadge(call: Call): { text: string; tone: BadgeTone } | undefined {
  if (call.failure !== null) return { text: FAILURES()[call.failure][0], tone: 'danger' }
  if (call.corrects_id !== null)
    return { text: call.cost_billed_brl < 0 ? t('estorno') : t('correção'), tone: 'neutral' }
  return call.usage_kind === 'estimated' ? { text: t('estimada'), tone: 'warning' } : undefined
}

export function failureText(failure: NonNullable<Call['failure']>): string {
  return FAILURES()[failure][1]
}

/** `1,2 s`, with the first byte where it was measured. */
export function timeText({ duration_ms: whole, first_byte_ms: first }: Call): {
  readonly whole: string
  readonly first: string | undefined
} {
  return {
    whole: whole === null ? '–' : duration(whole),
    first: first === null ? undefined : t('1º byte em {first}', { first: duration(first) }),
  }
}

export function paceText({ tokens_per_second: pace }: Pick<Call, 'tokens_per_second'>): string {
  return pace === null ? '–' : pace.toLocaleString(language(), { maximumFractionDigits: 1 })
}

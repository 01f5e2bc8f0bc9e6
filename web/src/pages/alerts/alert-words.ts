import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import { brl } from '../../format/brl.ts'
import { counted } from '../../format/number.ts'
import { amount } from '../usage/charge-words.ts'
import type { Alert, AlertKind, Channel } from './alert-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'
import { language } from '../../language/language.ts'

interface KindWords {
  readonly name: string
  /** Continues the sentence "Avisar quando". */
  readonly when: string
  readonly unit: string
  readonly example: string
  readonly bounds: string
  /** API keys and teams have no balance of their own. */
  readonly isForWholeAccountOnly: boolean
}

export const KIND_WORDS = perLanguage((): Readonly<Record<AlertKind, KindWords>> => ({
  balance_below: {
    name: t('Saldo baixo'),
    when: t('o saldo fica abaixo de'),
    unit: 'R$',
    example: '50',
    bounds: t('Use um valor de R$ 0,01 a R$ 1.000.000,00.'),
    isForWholeAccountOnly: true,
  },
  daily_spend: {
    name: t('Gasto do dia'),
    when: t('o gasto do dia chega a'),
    unit: 'R$',
    example: '100',
    bounds: t('Use um valor de R$ 0,01 a R$ 1.000.000,00.'),
    isForWholeAccountOnly: false,
  },
  monthly_spend: {
    name: t('Gasto do mês'),
    when: t('o gasto do mês chega a'),
    unit: 'R$',
    example: '1000',
    bounds: t('Use um valor de R$ 0,01 a R$ 1.000.000,00.'),
    isForWholeAccountOnly: false,
  },
  runway_days: {
    name: t('Saldo perto do fim'),
    when: t('o saldo dura menos de'),
    unit: t('dias'),
    example: '7',
    bounds: t('Use um número inteiro de 1 a 365 dias.'),
    isForWholeAccountOnly: true,
  },
  error_rate: {
    name: t('Muitos erros'),
    when: t('os erros da última hora chegam a'),
    unit: '%',
    example: '10',
    bounds: t('Use uma porcentagem de 1 a 100.'),
    isForWholeAccountOnly: false,
  },
}))

export const CHANNEL_WORDS = perLanguage((): Readonly<Record<Channel, string>> => ({
  email: t('e-mail'),
  webhook: t('webhook'),
}))

export function thresholdWords(kind: AlertKind, value: number): string {
  const { unit } = KIND_WORDS()[kind]
  if (unit === 'R$') return brl(value)
  const written = value.toLocaleString(language(), { maximumFractionDigits: 2 })
  return kind === 'runway_days' ? counted(value, t('dia'), t('dias')) : `${written}%`
}

/** The value that fired the alert may be a fraction of a cent. */
export function valueWords(kind: AlertKind, value: number): string {
  return KIND_WORDS()[kind].unit === 'R$' ? amount(value) : thresholdWords(kind, value)
}

export function ruleWords({ kind, threshold, channels }: Alert): string {
  const by = channels.map((channel) => CHANNEL_WORDS()[channel]).join(t(' e '))
  return t('Avisa por {by} quando {when} {kind}.', {
    by,
    when: KIND_WORDS()[kind].when,
    kind: thresholdWords(kind, threshold),
  })
}

export function explainAlertError(error: Error, kind: AlertKind): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.code === 'too_many_alerts')
    return t('Você já tem o máximo de 50 alertas. Exclua um para criar outro.')
  if (error.code === 'key_not_found') return t('Esta chave não existe mais. Escolha outra.')
  if (error.code === 'team_not_found') return t('Esta equipe não existe mais. Escolha outra.')
  if (error.field === 'threshold') return KIND_WORDS()[kind].bounds
  if (error.field === 'name') return t('Dê um nome de 1 a 80 caracteres ao alerta.')
  return explainError(error)
}

import { ApiError } from '../../../api/api-error.ts'
import { explainError } from '../../../api/explain-error.ts'
import { dateTime } from '../../../format/date.ts'
import type { AdminModel } from './admin-model-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'
import { language } from '../../../language/language.ts'

export const CATEGORY_WORDS = perLanguage((): Readonly<Record<AdminModel['category'], string>> => ({
  llm: t('Chat'),
  image: t('Imagem'),
  video: t('Vídeo'),
  embedding: t('Embedding'),
  audio: t('Áudio'),
}))

/** Where its prices and routes are written; nothing for what the program brings along. */
export const SOURCE_WORDS = perLanguage((): Readonly<Record<AdminModel['source'], string>> => ({
  built_in: '',
  file: t(' · do arquivo'),
  listed: t(' · da lista do provedor'),
  browser: t(' · salvo aqui'),
}))

/** 1.25 -> ×1,25 */
export function markupWords(markup: number): string {
  return `×${markup.toLocaleString(language(), { minimumFractionDigits: 2, maximumFractionDigits: 4 })}`
}

/** The change of prices: 1.25 to 1.5 is +20%. */
export function changeWords(from: number, to: number): string {
  const change = to / from - 1
  return change.toLocaleString(language(), {
    style: 'percent',
    signDisplay: 'exceptZero',
    maximumFractionDigits: 1,
  })
}

/** A new change is compared with the last planned one. */
export function lastMarkup({ markup_multiplier, scheduled }: AdminModel): number {
  return scheduled.at(-1)?.markup_multiplier ?? markup_multiplier
}

export function explainMarkupError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.code === 'notice_too_short') {
    const earliest = /em (\S+Z) ou depois/.exec(error.details ?? '')?.[1]
    return earliest === undefined
      ? t('Um aumento precisa de mais dias de aviso. Escolha uma data mais tarde.')
      : t('Um aumento precisa de aviso: escolha uma data a partir de {earliest}.', {
          earliest: dateTime(earliest),
        })
  }
  if (error.code === 'later_change_scheduled')
    return t(
      'Já há uma mudança marcada para depois dessa data. Escolha uma data mais tarde ou cancele aquela antes.',
    )
  if (error.code === 'markup_unchanged') return t('Este já é o multiplicador. Digite outro.')
  if (error.code === 'already_in_force')
    return t('Esta mudança já começou. Para voltar atrás, marque outra.')
  return explainError(error)
}

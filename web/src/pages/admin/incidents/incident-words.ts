import { ApiError } from '../../../api/api-error.ts'
import { explainError } from '../../../api/explain-error.ts'
import type { BadgeTone } from '../../../components/Badge.tsx'
import type { Incident, Severity } from './incident-queries.ts'
import { perLanguage } from '../../../language/per-language.ts'
import { t } from '../../../language/t.ts'

export const SEVERITIES = ['minor', 'major', 'critical'] as const satisfies readonly Severity[]

export const SEVERITY_WORDS = perLanguage(
  (): Readonly<Record<Severity, { text: string; tone: BadgeTone; hint: string }>> => ({
    minor: { text: t('Leve'), tone: 'neutral', hint: t('Quase ninguém nota') },
    major: { text: t('Grave'), tone: 'warning', hint: t('Parte não funciona') },
    critical: { text: t('Crítico'), tone: 'danger', hint: t('Quase tudo parado') },
  }),
)

export const UPDATE_WORDS = perLanguage(
  (): Readonly<Record<Incident['updates'][number]['status'], string>> => ({
    opened: t('Aberto'),
    updated: t('Atualizado'),
    resolved: t('Resolvido'),
  }),
)

export function explainIncidentError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.code === 'incident_resolved')
    return t('Este incidente já foi resolvido. Atualize a página; se voltou, abra outro.')
  if (error.details?.startsWith('models: não está no catálogo'))
    return t('Um dos modelos não está no catálogo. Confira o id.')
  return explainError(error)
}

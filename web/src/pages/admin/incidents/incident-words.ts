import { ApiError } from '../../../api/api-error.ts'
import { explainError } from '../../../api/explain-error.ts'
import type { BadgeTone } from '../../../components/Badge.tsx'
import type { Incident, Severity } from './incident-queries.ts'

export const SEVERITIES = ['minor', 'major', 'critical'] as const satisfies readonly Severity[]

export const SEVERITY_WORDS: Readonly<
  Record<Severity, { text: string; tone: BadgeTone; hint: string }>
> = {
  minor: { text: 'Leve', tone: 'neutral', hint: 'Quase ninguém nota' },
  major: { text: 'Grave', tone: 'warning', hint: 'Parte não funciona' },
  critical: { text: 'Crítico', tone: 'danger', hint: 'Quase tudo parado' },
}

export const UPDATE_WORDS: Readonly<Record<Incident['updates'][number]['status'], string>> = {
  opened: 'Aberto',
  updated: 'Atualizado',
  resolved: 'Resolvido',
}

export function explainIncidentError(error: Error): string {
  if (!(error instanceof ApiError)) return explainError(error)
  if (error.code === 'incident_resolved')
    return 'Este incidente já foi resolvido. Atualize a página; se voltou, abra outro.'
  if (error.details?.startsWith('models: não está no catálogo'))
    return 'Um dos modelos não está no catálogo. Confira o id.'
  return explainError(error)
}

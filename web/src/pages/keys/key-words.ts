import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import type { BadgeTone } from '../../components/Badge.tsx'
import type { ApiKey, KeyStatus } from './key-queries.ts'

export const KEY_STATUS: Readonly<Record<KeyStatus, { text: string; tone: BadgeTone }>> = {
  active: { text: 'Ativa', tone: 'success' },
  suspended: { text: 'Sem saldo', tone: 'warning' },
  paused: { text: 'Pausada', tone: 'warning' },
  revoked: { text: 'Revogada', tone: 'neutral' },
  expired: { text: 'Vencida', tone: 'neutral' },
}

export const BUDGET_PERIOD: Readonly<Record<NonNullable<ApiKey['budget']>['period'], string>> = {
  day: 'por dia',
  month: 'por mês',
  lifetime: 'no total',
}

export const PAUSE_REASON: Readonly<Record<NonNullable<ApiKey['paused_reason']>, string>> = {
  anomaly: 'Pausada: gastou muito mais que o habitual. Se está tudo certo, retome-a.',
  leaked: 'Pausada: alguém informou que o segredo está exposto. Revogue-a e crie outra.',
  owner: 'Pausada na sua conta.',
  operator: 'Pausada pela operação do serviço. Fale com o suporte.',
}

export const CAP_WORDS = {
  minute_cap_brl: {
    label: 'Gasto por minuto',
    hint: 'Vazio: sem limite.',
    text: 'por minuto',
  },
  day_cap_brl: {
    label: 'Gasto por dia',
    hint: 'Vazio: sem limite.',
    text: 'por dia',
  },
  task_cap_brl: {
    label: 'Gasto por tarefa',
    hint: 'Chamadas com o mesmo x-svc-session-id. Vazio: sem limite.',
    text: 'por tarefa',
  },
} as const

/** The least first: what a server or an agent needs. */
export const KEY_SCOPE: Readonly<Record<ApiKey['scope'], { text: string; hint: string }>> = {
  calls: {
    text: 'Chamar modelos',
    hint: 'Para servidores e agentes. Se a chave vazar, ninguém mexe na sua conta com ela.',
  },
  account: {
    text: 'Chamar modelos e cuidar da conta',
    hint: 'Também lê uso, recargas e prompts, muda o perfil, pede reembolso e revoga chaves.',
  },
  manage: {
    text: 'Tudo, até criar chaves e cobrar cartões',
    hint: 'Também webhooks, equipes e a exclusão da conta. Só para automações suas: para criar, você confirma que é você.',
  },
}

export function isKeyScope(value: string): value is ApiKey['scope'] {
  return Object.hasOwn(KEY_SCOPE, value)
}

/** The form field of the error, and the text to show. Field `undefined`: the form as a whole. */
export function explainKeyError(error: unknown): { field: string | undefined; text: string } {
  if (!(error instanceof ApiError)) return { field: undefined, text: explainError(error) }
  const { code, details = '' } = error
  if (code === 'name must be 3-50 chars')
    return { field: 'name', text: 'O nome precisa ter de 3 a 50 caracteres.' }
  if (code === 'no_valid_models') return { field: 'model_ids', text: 'Escolha ao menos um modelo.' }
  if (code === 'too_many_keys')
    return { field: undefined, text: 'Você chegou ao limite de chaves. Revogue as que não usa.' }
  if (code === 'key_revoked')
    return { field: undefined, text: 'Esta chave foi revogada e não pode mais mudar.' }
  const field = error.field?.split(/[./]/, 1)[0]
  const text = field === undefined ? undefined : FIELD_FAULTS[field]
  if (text === undefined) return { field: undefined, text: explainError(error) }
  const entry = /"([^"]+)"/.exec(details)?.[1]
  return { field, text: field === 'ip_allowlist' && entry ? `${entry}: ${text}` : text }
}

const CAP_FAULT = 'Escolha de R$ 0 a R$ 1.000.000, com no máximo duas casas depois da vírgula.'

const FIELD_FAULTS: Readonly<Record<string, string>> = {
  name: 'Escreva um nome sem caracteres de controle.',
  ip_allowlist: 'não é um endereço IP nem um bloco, como 203.0.113.7 ou 10.0.0.0/8.',
  requests_per_minute: 'Escolha de 1 a 10.000 chamadas por minuto.',
  tokens_per_minute: 'Escolha de 1 a 1.000.000.000 de tokens por minuto.',
  calls_at_once: 'Escolha de 1 a 10.000 chamadas ao mesmo tempo.',
  minute_cap_brl: CAP_FAULT,
  day_cap_brl: CAP_FAULT,
  task_cap_brl: CAP_FAULT,
  budget: 'Escolha de US$ 0 a US$ 1.000.000, com no máximo seis casas depois da vírgula.',
  expires_at: 'Escolha uma data no futuro.',
}

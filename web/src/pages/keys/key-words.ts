import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import type { BadgeTone } from '../../components/Badge.tsx'
import type { ApiKey, KeyStatus } from './key-queries.ts'

export const KEY_STATUS: Readonly<Record<KeyStatus, { text: string; tone: BadgeTone }>> = {
  active: { text: 'Ativa', tone: 'success' },
  suspended: { text: 'Sem saldo', tone: 'warning' },
  revoked: { text: 'Revogada', tone: 'neutral' },
  expired: { text: 'Vencida', tone: 'neutral' },
}

export const BUDGET_PERIOD: Readonly<Record<NonNullable<ApiKey['budget']>['period'], string>> = {
  day: 'por dia',
  month: 'por mês',
  lifetime: 'no total',
}

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

const FIELD_FAULTS: Readonly<Record<string, string>> = {
  name: 'Escreva um nome sem caracteres de controle.',
  ip_allowlist: 'não é um endereço IP nem um bloco, como 203.0.113.7 ou 10.0.0.0/8.',
  requests_per_minute: 'Escolha de 1 a 10.000 chamadas por minuto.',
  tokens_per_minute: 'Escolha de 1 a 1.000.000.000 de tokens por minuto.',
  budget: 'Escolha de US$ 0 a US$ 1.000.000, com no máximo seis casas depois da vírgula.',
  expires_at: 'Escolha uma data no futuro.',
}

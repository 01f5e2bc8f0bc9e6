import { ApiError } from '../../api/api-error.ts'
import { explainError } from '../../api/explain-error.ts'
import type { BadgeTone } from '../../components/Badge.tsx'
import type { ApiKey, KeyStatus } from './key-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export const KEY_STATUS = perLanguage(
  (): Readonly<Record<KeyStatus, { text: string; tone: BadgeTone }>> => ({
    active: { text: t('Ativa'), tone: 'success' },
    suspended: { text: t('Sem saldo'), tone: 'warning' },
    paused: { text: t('Pausada'), tone: 'warning' },
    revoked: { text: t('Revogada'), tone: 'neutral' },
    expired: { text: t('Vencida'), tone: 'neutral' },
  }),
)

export const BUDGET_PERIOD = perLanguage(
  (): Readonly<Record<NonNullable<ApiKey['budget']>['period'], string>> => ({
    day: t('por dia'),
    month: t('por mês'),
    lifetime: t('no total'),
  }),
)

export const PAUSE_REASON = perLanguage(
  (): Readonly<Record<NonNullable<ApiKey['paused_reason']>, string>> => ({
    anomaly: t('Pausada: gastou muito mais que o habitual. Se está tudo certo, retome-a.'),
    leaked: t('Pausada: alguém informou que o segredo está exposto. Revogue-a e crie outra.'),
    owner: t('Pausada na sua conta.'),
    operator: t('Pausada pela operação do serviço. Fale com o suporte.'),
  }),
)

export const CAP_WORDS = perLanguage(
  () =>
    ({
      minute_cap_brl: {
        label: t('Gasto por minuto'),
        hint: t('Vazio: sem limite.'),
        text: t('por minuto'),
      },
      day_cap_brl: {
        label: t('Gasto por dia'),
        hint: t('Vazio: sem limite.'),
        text: t('por dia'),
      },
      task_cap_brl: {
        label: t('Gasto por tarefa'),
        hint: t('Chamadas com o mesmo x-svc-session-id. Vazio: sem limite.'),
        text: t('por tarefa'),
      },
    }) as const,
)

/** The least first: what a server or an agent needs. */
export const KEY_SCOPE = perLanguage(
  (): Readonly<Record<ApiKey['scope'], { text: string; hint: string }>> => ({
    calls: {
      text: t('Chamar modelos'),
      hint: t('Para servidores e agentes. Se a chave vazar, ninguém mexe na sua conta com ela.'),
    },
    account: {
      text: t('Chamar modelos e cuidar da conta'),
      hint: t('Também lê uso, recargas e prompts, muda o perfil, pede reembolso e revoga chaves.'),
    },
    manage: {
      text: t('Tudo, até criar chaves e cobrar cartões'),
      hint: t(
        'Também webhooks, equipes e a exclusão da conta. Só para automações suas: para criar, você confirma que é você.',
      ),
    },
    operator: {
      text: t('Ler a operação do serviço'),
      hint: t(
        'Lê em /v1/admin o que o seu papel lê, e não chama modelos nem muda nada. Vale 30 dias, ou até a data abaixo: no máximo 90 dias.',
      ),
    },
  }),
)

export function isKeyScope(value: string): value is ApiKey['scope'] {
  return Object.hasOwn(KEY_SCOPE(), value)
}

/** The form field of the error, and the text to show. Field `undefined`: the form as a whole. */
export function explainKeyError(error: unknown): { field: string | undefined; text: string } {
  if (!(error instanceof ApiError)) return { field: undefined, text: explainError(error) }
  const { code, details = '' } = error
  if (code === 'name must be 3-50 chars')
    return { field: 'name', text: t('O nome precisa ter de 3 a 50 caracteres.') }
  if (code === 'no_valid_models')
    return { field: 'model_ids', text: t('Escolha ao menos um modelo.') }
  if (code === 'too_many_keys')
    return { field: undefined, text: t('Você chegou ao limite de chaves. Revogue as que não usa.') }
  if (code === 'key_revoked')
    return { field: undefined, text: t('Esta chave foi revogada e não pode mais mudar.') }
  const field = error.field?.split(/[./]/, 1)[0]
  const text = field === undefined ? undefined : FIELD_FAULTS()[field]
  if (text === undefined) return { field: undefined, text: explainError(error) }
  const entry = /"([^"]+)"/.exec(details)?.[1]
  return { field, text: field === 'ip_allowlist' && entry ? `${entry}: ${text}` : text }
}

const CAP_FAULT = perLanguage(() =>
  t('Escolha de R$ 0 a R$ 1.000.000, com no máximo duas casas depois da vírgula.'),
)

const FIELD_FAULTS = perLanguage((): Readonly<Record<string, string>> => ({
  name: t('Escreva um nome sem caracteres de controle.'),
  ip_allowlist: t('não é um endereço IP nem um bloco, como 203.0.113.7 ou 10.0.0.0/8.'),
  requests_per_minute: t('Escolha de 1 a 10.000 chamadas por minuto.'),
  tokens_per_minute: t('Escolha de 1 a 1.000.000.000 de tokens por minuto.'),
  calls_at_once: t('Escolha de 1 a 10.000 chamadas ao mesmo tempo.'),
  cache_seconds: t('Escolha de 1 a 604.800 segundos.'),
  minute_cap_brl: CAP_FAULT(),
  day_cap_brl: CAP_FAULT(),
  task_cap_brl: CAP_FAULT(),
  budget: t('Escolha de US$ 0 a US$ 1.000.000, com no máximo seis casas depois da vírgula.'),
  expires_at: t('Escolha uma data no futuro.'),
}))

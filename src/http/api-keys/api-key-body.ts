/** The schemas of an API key: customers' input and the answer. */
import Type, { type Static } from 'typebox'
import type { ApiKeyChange } from '../../customers/change-api-key.ts'
import { API_KEY_STATUSES, type ApiKeyDetails } from '../../customers/api-key-details.ts'
import type { ApiKeyInput } from '../../customers/api-keys.ts'
import { createIpMatcher } from '../../customers/ip-allowlist.ts'
import { CACHE_SECONDS_MAX } from '../../customers/cached-answers.ts'
import { readKeyName } from '../../customers/key-secret.ts'
import { KEY_SCOPES } from '../../customers/key-scopes.ts'
import { jsonBrl, jsonUsd, parseBrl, parseUsd, type NanoBrl } from '../../platform/lib/money.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { shieldSetting } from '../shield/shield-fields.ts'
import { answer, brl, dateTime, nullable, usd, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

/** The specification's default. */
const REQUESTS_PER_MINUTE = 120
/** Only the operator can grant more, on the command line. */
const REQUESTS_PER_MINUTE_MAX = 10_000
const TOKENS_PER_MINUTE_MAX = 1_000_000_000
const BUDGET_USD_MAX = 1_000_000
const BUDGET_DECIMALS_MAX = 6
const IP_ENTRIES_MAX = 100
/** Longer than any address with a prefix. */
const IP_ENTRY_LENGTH_MAX = 64

/** Of a key with the scope `operator`, which always expires. */
const OPERATOR_DAYS = 30
const OPERATOR_DAYS_MAX = 90
const DAY_MS = 86_400_000

const CAP_BRL_MAX = 1_000_000
const CAP_DECIMALS_MAX = 2
const CALLS_AT_ONCE_MAX = 10_000

const budgetPeriod = Type.Enum(['day', 'month', 'lifetime'])

function capField(when: string) {
  return Type.Optional(
    nullable(
      Type.Number({
        minimum: 0,
        maximum: CAP_BRL_MAX,
        description: `O máximo em reais que a chave gasta ${when}, com até ${CAP_DECIMALS_MAX} casas decimais; null: sem limite.`,
      }),
    ),
  )
}

/** The schema does not constrain the name and the models: their faults have separate error codes. */
export const apiKeyFields = {
  name: Type.Optional(Type.Unsafe<unknown>({ description: 'Texto de 3 a 50 caracteres.' })),
  model_ids: Type.Optional(
    Type.Unsafe<unknown>({
      description:
        'Lista de ids do catálogo, ao menos um válido; obrigatória numa chave nova. Os que não existem são ignorados: a resposta traz os que valem. Com ["*"], a chave chama todos os modelos, também os que vierem depois.',
    }),
  ),
  ip_allowlist: Type.Optional(
    nullable(
      Type.Array(Type.String({ minLength: 1, maxLength: IP_ENTRY_LENGTH_MAX }), {
        minItems: 1,
        maxItems: IP_ENTRIES_MAX,
        description: 'Endereços e blocos CIDR, IPv4 ou IPv6; null: qualquer um.',
      }),
    ),
  ),
  requests_per_minute: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: REQUESTS_PER_MINUTE_MAX,
      description: `Sem ele, ${REQUESTS_PER_MINUTE} numa chave nova.`,
    }),
  ),
  tokens_per_minute: Type.Optional(
    nullable(Type.Integer({ minimum: 1, maximum: TOKENS_PER_MINUTE_MAX })),
  ),
  budget: Type.Optional(
    nullable(
      Type.Object(
        {
          limit_usd: Type.Number({
            minimum: 0,
            maximum: BUDGET_USD_MAX,
            description: `USD, com até ${BUDGET_DECIMALS_MAX} casas decimais.`,
          }),
          period: budgetPeriod,
        },
        { additionalProperties: false },
      ),
    ),
  ),
  minute_cap_brl: capField('a cada minuto'),
  day_cap_brl: capField('a cada dia'),
  task_cap_brl: capField('em cada tarefa: as chamadas da chave com o mesmo x-svc-session-id'),
  calls_at_once: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: CALLS_AT_ONCE_MAX,
        description:
          'Chamadas aos modelos ao mesmo tempo, em cada servidor; null: o limite da conta.',
      }),
    ),
  ),
  cache_seconds: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: CACHE_SECONDS_MAX,
        description:
          'Por quanto tempo a resposta a uma chamada serve outra igual, da mesma conta, sem chamar o modelo de novo; null: só quando a chamada pede, em x-svc-cache.',
      }),
    ),
  ),
  auto_cache: Type.Optional(
    Type.Boolean({
      description:
        'Marca o começo das conversas para o cache do provedor, nos modelos que só guardam o que vem marcado (cache_control, como os da Anthropic): escrever custa mais uma vez, e ler, muito menos. Vale para prompts a partir de uns 1.024 tokens e sem marcas do próprio cliente.',
    }),
  ),
  expires_at: Type.Optional(
    nullable(Type.String({ format: 'date-time', maxLength: 40, description: 'No futuro.' })),
  ),
}
/** A team's key is always for model calls only, and has the shield of the account that pays. */
export const teamKeyInput = Type.Object(apiKeyFields, { additionalProperties: false })

/** Without it, a new key with a limit of models, addresses, budget or expiry gets `calls`, and any other `account`. */
const scope = Type.Enum([...KEY_SCOPES], {
  description:
    'O que a chave pode: calls, chamadas aos modelos e GET /usage; account, também o autoatendimento; manage, também chaves, cartões salvos, webhooks, equipes e a exclusão da conta. manage só é dado numa sessão do painel que acabou de confirmar a identidade. operator, só de quem opera o serviço, lê as rotas /admin e não faz mais nada; vale no máximo 90 dias.',
})

const shield = nullable(shieldSetting)
const SHIELD = 'Proteção de dados pessoais da chave; null: a da conta (GET /me/shield).'

export const apiKeyInput = Type.Object(
  {
    ...apiKeyFields,
    scope: Type.Optional(scope),
    shield: Type.Optional({ ...shield, description: SHIELD }),
  },
  { additionalProperties: false },
)

/** The error codes for faulty fields. */
export const API_KEY_FAULTS = ['name must be 3-50 chars', 'no_valid_models'] as const

type GivenFields = Static<typeof apiKeyInput>

export type KeyInput = Pick<
  ApiKeyInput,
  | 'name'
  | 'scope'
  | 'modelIds'
  | 'ipAllowlist'
  | 'requestsPerMinute'
  | 'tokensPerMinute'
  | 'shield'
  | 'budget'
  | 'minuteLimitNanoBrl'
  | 'dayLimitNanoBrl'
  | 'taskLimitNanoBrl'
  | 'callsAtOnce'
  | 'cacheSeconds'
  | 'autoCache'
  | 'expiresAt'
>

/** Returns the input of `createApiKey`. Throws a `RestRefusal`. */
export function readKeyInput(deps: Pick<HttpParts, 'catalog'>, fields: GivenFields): KeyInput {
  const isOperator = fields.scope === 'operator'
  const change = readKeyChange(deps, {
    ...fields,
    name: fields.name ?? null,
    model_ids: isOperator ? null : (fields.model_ids ?? []),
  })
  return {
    name: change.name as string,
    scope: change.scope,
    // No model, so that not its scope alone keeps it from calls.
    modelIds: isOperator ? [] : (change.modelIds ?? undefined),
    ipAllowlist: change.ipAllowlist ?? undefined,
    requestsPerMinute: change.requestsPerMinute ?? REQUESTS_PER_MINUTE,
    tokensPerMinute: change.tokensPerMinute ?? undefined,
    shield: change.shield ?? undefined,
    budget: change.budget ?? undefined,
    minuteLimitNanoBrl: change.minuteLimitNanoBrl ?? undefined,
    dayLimitNanoBrl: change.dayLimitNanoBrl ?? undefined,
    taskLimitNanoBrl: change.taskLimitNanoBrl ?? undefined,
    callsAtOnce: change.callsAtOnce ?? undefined,
    cacheSeconds: change.cacheSeconds ?? undefined,
    autoCache: change.autoCache,
    expiresAt: isOperator ? operatorExpiry(change.expiresAt) : (change.expiresAt ?? undefined),
  }
}

function operatorExpiry(wanted: Date | null | undefined): Date {
  const expiresAt = wanted ?? new Date(Date.now() + OPERATOR_DAYS * DAY_MS)
  if (expiresAt.getTime() > Date.now() + OPERATOR_DAYS_MAX * DAY_MS)
    throw invalid('expires_at', `uma chave operator vale no máximo ${OPERATOR_DAYS_MAX} dias`)
  return expiresAt
}

/** Returns the changes to an existing key: only the given fields. Throws a `RestRefusal`. */
export function readKeyChange(
  { catalog }: Pick<HttpParts, 'catalog'>,
  fields: GivenFields,
): ApiKeyChange {
  return {
    ...(fields.name === undefined ? {} : { name: readName(fields.name) }),
    ...(fields.scope === undefined ? {} : { scope: fields.scope }),
    ...(fields.model_ids === undefined ? {} : { modelIds: readModels(catalog, fields.model_ids) }),
    ...(fields.ip_allowlist === undefined
      ? {}
      : { ipAllowlist: fields.ip_allowlist && readAllowlist(fields.ip_allowlist) }),
    ...(fields.requests_per_minute === undefined
      ? {}
      : { requestsPerMinute: fields.requests_per_minute }),
    ...(fields.tokens_per_minute === undefined
      ? {}
      : { tokensPerMinute: fields.tokens_per_minute }),
    ...(fields.shield === undefined ? {} : { shield: fields.shield }),
    ...(fields.budget === undefined ? {} : { budget: fields.budget && readBudget(fields.budget) }),
    ...readCaps(fields),
    ...(fields.cache_seconds === undefined ? {} : { cacheSeconds: fields.cache_seconds }),
    ...(fields.auto_cache === undefined ? {} : { autoCache: fields.auto_cache }),
    ...(fields.expires_at === undefined
      ? {}
      : { expiresAt: fields.expires_at === null ? null : readExpiry(fields.expires_at) }),
  }
}

function readName(value: unknown): string {
  const name = readKeyName(value)
  if (name === undefined) throw new RestRefusal(400, 'name must be 3-50 chars')
  // The database cannot store NUL, and control characters are invisible.
  if (/\p{Cc}/u.test(name)) throw invalid('name', 'não pode ter caracteres de controle')
  return name
}

/** Asks for all models, also later ones. */
const ALL_MODELS = '*'

/** Models of the catalog, each once; null: all of them. A change to null also lifts the limit. */
function readModels(catalog: HttpParts['catalog'], value: unknown): string[] | null {
  if (value === null) return null
  const given: unknown[] = Array.isArray(value) ? value : []
  if (given.includes(ALL_MODELS)) return null
  const known = given.filter(
    (id): id is string => typeof id === 'string' && catalog.findModel(id) !== undefined,
  )
  if (known.length === 0) throw new RestRefusal(400, 'no_valid_models')
  return [...new Set(known)]
}

function readAllowlist(entries: readonly string[]): readonly string[] {
  for (const entry of entries) {
    try {
      createIpMatcher([entry])
    } catch {
      throw invalid(
        'ip_allowlist',
        `${JSON.stringify(entry)} não é um endereço IP nem um bloco CIDR`,
      )
    }
  }
  return [...new Set(entries)]
}

/** Parses the number's shortest text: amounts never go through floating-point arithmetic. */
function readBudget({
  limit_usd,
  period,
}: NonNullable<GivenFields['budget']>): NonNullable<ApiKeyInput['budget']> {
  const text = String(limit_usd)
  const limitPicoUsd = parseUsd(text)
  const decimals = text.split('.')[1]?.length ?? 0
  if (limitPicoUsd === undefined || decimals > BUDGET_DECIMALS_MAX)
    throw invalid('budget.limit_usd', `deve ter no máximo ${BUDGET_DECIMALS_MAX} casas decimais`)
  return { limitPicoUsd, period }
}

function readCaps(
  fields: GivenFields,
): Pick<
  ApiKeyChange,
  'minuteLimitNanoBrl' | 'dayLimitNanoBrl' | 'taskLimitNanoBrl' | 'callsAtOnce'
> {
  const { minute_cap_brl, day_cap_brl, task_cap_brl, calls_at_once } = fields
  return {
    ...(minute_cap_brl === undefined
      ? {}
      : { minuteLimitNanoBrl: readCap('minute_cap_brl', minute_cap_brl) }),
    ...(day_cap_brl === undefined ? {} : { dayLimitNanoBrl: readCap('day_cap_brl', day_cap_brl) }),
    ...(task_cap_brl === undefined
      ? {}
      : { taskLimitNanoBrl: readCap('task_cap_brl', task_cap_brl) }),
    ...(calls_at_once === undefined ? {} : { callsAtOnce: calls_at_once }),
  }
}

/** As `readBudget`. */
function readCap(field: string, amount: number | null): NanoBrl | null {
  if (amount === null) return null
  const text = String(amount)
  const nanoBrl = parseBrl(text)
  if (nanoBrl === undefined || (text.split('.')[1]?.length ?? 0) > CAP_DECIMALS_MAX)
    throw invalid(field, `deve ter no máximo ${CAP_DECIMALS_MAX} casas decimais`)
  return nanoBrl
}

function readExpiry(text: string): Date {
  const at = new Date(text)
  // The format allows a leap second; a `Date` does not.
  if (Number.isNaN(at.getTime())) throw invalid('expires_at', 'não é uma data com hora')
  if (at.getTime() <= Date.now()) throw invalid('expires_at', 'deve ser uma data futura')
  return at
}

function invalid(field: string, what: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', `${field}: ${what}`)
}

const shownFields = {
  id: uuid,
  name: Type.String(),
  last_four: Type.String(),
  status: Type.Enum([...API_KEY_STATUSES]),
  scope: Type.Enum([...KEY_SCOPES]),
  model_ids: nullable(Type.Array(Type.String(), { description: 'null: todos os do catálogo.' })),
  ip_allowlist: nullable(Type.Array(Type.String())),
  requests_per_minute: Type.Integer(),
  tokens_per_minute: nullable(Type.Integer()),
  shield: { ...shield, description: SHIELD },
  budget: nullable(answer({ limit_usd: usd, period: budgetPeriod, spent_usd: usd })),
  minute_cap_brl: nullable(brl),
  minute_cap_used_brl: nullable(
    Type.Number({ description: 'Gastos neste minuto e reservas das chamadas em andamento.' }),
  ),
  day_cap_brl: nullable(brl),
  day_cap_used_brl: nullable(
    Type.Number({ description: 'Gastos neste dia e reservas das chamadas em andamento.' }),
  ),
  task_cap_brl: nullable(brl),
  calls_at_once: nullable(Type.Integer()),
  cache_seconds: nullable(Type.Integer()),
  auto_cache: Type.Boolean(),
  team_id: nullable(uuid),
  last_used_at: nullable(dateTime),
  created_at: dateTime,
  expires_at: nullable(dateTime),
  paused_reason: nullable(
    Type.Enum(['anomaly', 'leaked', 'owner', 'operator'], {
      description:
        'Por que está pausada: gasto fora do padrão, segredo exposto, por quem é dono ou pela operação.',
    }),
  ),
  revoked_at: nullable(dateTime),
}
export const apiKey = answer(shownFields)

/** The answer for a new key, with its secret. */
export const newApiKey = answer({
  ...shownFields,
  key: Type.String({ description: 'O segredo; só é mostrado esta vez.' }),
})

export function apiKeyBody(key: ApiKeyDetails): AnswerOf<typeof apiKey> {
  return {
    id: key.id,
    name: key.name,
    last_four: key.lastFour,
    status: key.status,
    scope: key.scope,
    model_ids: key.modelIds,
    ip_allowlist: key.ipAllowlist,
    requests_per_minute: key.requestsPerMinute,
    tokens_per_minute: key.tokensPerMinute,
    shield: key.shield,
    budget: key.budget && {
      limit_usd: jsonUsd(key.budget.limitPicoUsd),
      period: key.budget.period,
      spent_usd: jsonUsd(key.budget.spentPicoUsd),
    },
    minute_cap_brl: key.minuteCap && jsonBrl(key.minuteCap.limitNanoBrl),
    minute_cap_used_brl: key.minuteCap && jsonBrl(key.minuteCap.usedNanoBrl),
    day_cap_brl: key.dayCap && jsonBrl(key.dayCap.limitNanoBrl),
    day_cap_used_brl: key.dayCap && jsonBrl(key.dayCap.usedNanoBrl),
    task_cap_brl: key.taskLimitNanoBrl === null ? null : jsonBrl(key.taskLimitNanoBrl),
    calls_at_once: key.callsAtOnce,
    cache_seconds: key.cacheSeconds,
    auto_cache: key.autoCache,
    team_id: key.teamId,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    paused_reason: key.pausedReason,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  }
}

import Type from 'typebox'
import { getPreferences, isTimezone, savePreferences } from '../../customers/preferences.ts'
import { actorOf } from '../rest/authenticate.ts'
import { STORED_DAYS_MAX } from '../../customers/stored-responses/store-response.ts'
import { answer, nullable } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { refusalOfKey } from '../api-keys/make-api-key.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db' | 'keys'>

const locale = Type.String({ pattern: '^[a-z]{2}(-[A-Z]{2})?$' })

const storedResponsesDays = nullable(
  Type.Integer({
    minimum: 1,
    maximum: STORED_DAYS_MAX,
    description:
      'Por quantos dias as respostas de POST /responses ficam guardadas, cifradas, para GET /responses/{id} e previous_response_id. null: nenhuma fica, e as guardadas são apagadas. Uma chave só o aumenta com a permissão manage.',
  }),
)

const incidentEmailEnabled = Type.Boolean({
  description:
    'Um e-mail quando um incidente começa e outro quando acaba. Desligado até que a conta o peça.',
})

const preferences = answer({
  timezone: Type.String({ description: 'Fuso horário da IANA, como America/Sao_Paulo.' }),
  preferred_locale: locale,
  weekly_digest_enabled: Type.Boolean(),
  low_balance_email_enabled: Type.Boolean({
    description:
      'Avisos de saldo baixo por e-mail. O de saldo zerado vai sempre, e os webhooks recebem os dois.',
  }),
  incident_email_enabled: incidentEmailEnabled,
  stored_responses_days: storedResponsesDays,
})

export const preferenceRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/preferences',
    tag: 'Conta',
    summary: 'As preferências',
    access: 'account',
    answer: preferences,
    handle: ({ caller }, deps: Deps) => getPreferences(deps.db, caller.customerId),
  }),

  restRoute({
    method: 'PUT',
    path: '/me/preferences',
    tag: 'Conta',
    summary: 'Altera as preferências que forem dadas',
    access: 'account',
    body: Type.Object(
      {
        timezone: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 64,
            pattern: '^[A-Za-z0-9_+/-]+$',
            description:
              'Fuso horário da IANA. Limites de chaves e de equipes que já existem ficam com o fuso em que foram criados.',
          }),
        ),
        preferred_locale: Type.Optional(locale),
        weekly_digest_enabled: Type.Optional(Type.Boolean()),
        low_balance_email_enabled: Type.Optional(Type.Boolean()),
        incident_email_enabled: Type.Optional(incidentEmailEnabled),
        stored_responses_days: Type.Optional(storedResponsesDays),
      },
      { additionalProperties: false },
    ),
    answer: preferences,
    async handle({ caller, body, reply }, deps: Deps) {
      const { customerId } = caller
      if (body.timezone !== undefined && !(await isTimezone(deps.db, body.timezone)))
        throw new RestRefusal(400, 'invalid_request', 'timezone: deve ser um fuso horário da IANA')
      const saved = await savePreferences(deps.db, actorOf(caller), { customerId, change: body })
      if (saved.kind === 'scope_insufficient')
        throw new RestRefusal(
          403,
          'key_scope_insufficient',
          'stored_responses_days: guardar respostas, ou por mais dias, precisa da permissão manage',
        )
      if (saved.kind === 'own_key_ended') return reply.code(401).send()
      if (saved.kind !== 'saved') throw refusalOfKey(saved)
      // The caller's next request may come before the notification that every node gets.
      deps.keys.forgetAllOf(customerId)
      return saved.preferences
    },
  }),
]

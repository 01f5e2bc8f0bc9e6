/** The schemas of alerts: customers' input and the answers. */
import Type, { type Static } from 'typebox'
import {
  ALERT_KINDS,
  ALERT_RULES,
  type AlertKind,
  type Alert,
  type AlertChange,
  type AlertInput,
} from '../../deliveries/alerts/alerts.ts'
import { CHANNELS } from '../../platform/events/record-event.ts'
import { jsonBrl, parseBrl } from '../../platform/lib/money.ts'
import { answer, dateTime, nullable, uuid } from '../rest/values.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

const NAME_LENGTH_MAX = 80
const NANO = 1_000_000_000

const name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  // It stands in mails: no line breaks, and nothing that PostgreSQL could not keep.
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
})
const kind = Type.Enum([...ALERT_KINDS])
const threshold = Type.Number({
  exclusiveMinimum: 0,
  maximum: Math.max(...Object.values(ALERT_RULES).map(({ max }) => max)),
  description:
    'Em BRL (balance_below, daily_spend, monthly_spend: 0.01 a 1000000), em dias inteiros (runway_days: 1 a 365) ' +
    'ou em % das chamadas da última hora (error_rate: 1 a 100). Gastos e erros disparam ao chegar ao limite, saldo e ' +
    'dias ao ficar abaixo dele.',
})
const channels = Type.Array(Type.Enum([...CHANNELS]), {
  minItems: 1,
  maxItems: CHANNELS.length,
  uniqueItems: true,
})
const id = Type.Optional(nullable(Type.String({ maxLength: 200 })))

export const alertInput = Type.Object(
  {
    name,
    kind,
    threshold,
    channels,
    api_key_id: id,
    team_id: id,
    is_enabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

export const alertChange = Type.Object(
  {
    name: Type.Optional(name),
    threshold: Type.Optional(threshold),
    channels: Type.Optional(channels),
    is_enabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)

export const alert = answer({
  id: uuid,
  name: Type.String(),
  kind,
  threshold: Type.Number(),
  api_key_id: nullable(uuid),
  team_id: nullable(uuid),
  channels,
  is_enabled: Type.Boolean(),
  state: Type.Enum(['ok', 'triggered'], {
    description:
      'triggered: disparou, e só dispara de novo depois de voltar 10% além do limite; gastos, no próximo dia ou mês.',
  }),
  last_fired_at: nullable(dateTime),
  last_value: nullable(
    Type.Number({ description: 'O valor com que disparou, na unidade do limite.' }),
  ),
  created_at: dateTime,
  updated_at: dateTime,
})

/** Reads the fields of a new alert. Throws a 400 for a field that alerts of this kind do not have. */
export function readAlertInput(customerId: string, body: Static<typeof alertInput>): AlertInput {
  const { api_key_id: apiKeyId = null, team_id: teamId = null, is_enabled = true } = body
  const restricted = apiKeyId !== null ? 'api_key_id' : 'team_id'
  if (apiKeyId !== null && teamId !== null) throw fault('team_id: não vale junto com api_key_id')
  if ((apiKeyId ?? teamId) !== null && ALERT_RULES[body.kind].isForWholeAccountOnly)
    throw fault(`${restricted}: ${body.kind} é da conta inteira`)
  return {
    customerId,
    name: readName(body.name),
    kind: body.kind,
    thresholdNano: readThreshold(body.kind, body.threshold),
    apiKeyId,
    teamId,
    channels: body.channels,
    isEnabled: is_enabled,
  }
}

/** Reads the changed fields of an alert. Throws a 400 for a value that alerts of this kind cannot have. */
export function readAlertChange(
  kind: AlertKind,
  { name, threshold, channels, is_enabled }: Static<typeof alertChange>,
): AlertChange {
  return {
    ...(name === undefined ? {} : { name: readName(name) }),
    ...(threshold === undefined ? {} : { thresholdNano: readThreshold(kind, threshold) }),
    ...(channels === undefined ? {} : { channels }),
    ...(is_enabled === undefined ? {} : { isEnabled: is_enabled }),
  }
}

export function alertBody(alert: Alert) {
  return {
    id: alert.id,
    name: alert.name,
    kind: alert.kind,
    threshold: jsonBrl(alert.thresholdNano),
    api_key_id: alert.apiKeyId,
    team_id: alert.teamId,
    channels: alert.channels,
    is_enabled: alert.isEnabled,
    state: alert.state,
    last_fired_at: alert.lastFiredAt?.toISOString() ?? null,
    last_value: alert.lastValueNano === null ? null : jsonBrl(alert.lastValueNano),
    created_at: alert.createdAt.toISOString(),
    updated_at: alert.updatedAt.toISOString(),
  }
}

function readName(text: string): string {
  const name = text.trim()
  if (name === '') throw fault(`name: deve ter de 1 a ${NAME_LENGTH_MAX} caracteres`)
  return name
}

/** Parses the number's shortest text: amounts never go through floating-point arithmetic. */
function readThreshold(kind: AlertKind, threshold: number): bigint {
  const { min, max, decimals } = ALERT_RULES[kind]
  const nano = parseBrl(String(threshold))
  const isGood =
    nano !== undefined &&
    threshold >= min &&
    threshold <= max &&
    nano % BigInt(NANO / 10 ** decimals) === 0n
  if (!isGood)
    throw fault(
      `threshold: de ${kind} deve ser de ${min} a ${max}, com no máximo ${decimals} casas decimais`,
    )
  return nano
}

function fault(details: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', details)
}

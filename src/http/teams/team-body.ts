/** The schemas of a team: customers' input and the answer. */
import Type from 'typebox'
import type { Team } from '../../customers/teams.ts'
import { jsonBrl, parseBrl, type NanoBrl } from '../../platform/lib/money.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, count, dateTime, nullable, uuid } from '../rest/values.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { maskedName, teamRank } from './team-access.ts'

const NAME_LENGTH_MIN = 3
const NAME_LENGTH_MAX = 50
const CAP_BRL_MAX = 1_000_000
const CENTS = /^\d+(\.\d{1,2})?$/

const nameField = Type.String({
  minLength: NAME_LENGTH_MIN,
  maxLength: NAME_LENGTH_MAX,
  // It stands in mails: no line breaks, and nothing that PostgreSQL could not keep.
  pattern: '^[^\\u0000-\\u001f\\u007f]*$',
})
const capField = nullable(
  Type.Number({
    exclusiveMinimum: 0,
    maximum: CAP_BRL_MAX,
    description: 'Limite de gasto por mês em BRL, com até dois decimais; null: sem limite.',
  }),
)

export const team = answer({
  id: uuid,
  name: Type.String(),
  role: teamRank,
  owner: Type.String({ description: 'O nome de quem é dono; só a inicial para os outros.' }),
  monthly_cap_brl: nullable(brl),
  spent_this_month_brl: brl,
  held_brl: Type.Number({ description: 'BRL, reservados por requisições em andamento.' }),
  remaining_brl: nullable(
    Type.Number({ description: 'BRL que ainda cabem no limite do mês; null: sem limite.' }),
  ),
  requests_this_month: count,
  tokens_this_month: count,
  member_count: Type.Integer({ minimum: 0, description: 'Sem contar quem é dono.' }),
  key_count: Type.Integer({ minimum: 0, description: 'As chaves que não foram revogadas.' }),
  created_at: dateTime,
})

const cap = Type.Optional(capField)
export const teamInput = Type.Object(
  { name: nameField, monthly_cap_brl: cap },
  { additionalProperties: false },
)
export const teamChange = Type.Object(
  { name: Type.Optional(nameField), monthly_cap_brl: cap },
  { additionalProperties: false },
)

/** Throws a `RestRefusal`. */
export function readTeamName(text: string): string {
  const name = text.trim()
  if (Array.from(name).length < NAME_LENGTH_MIN)
    throw new RestRefusal(
      400,
      'invalid_request',
      `name: deve ter de ${NAME_LENGTH_MIN} a ${NAME_LENGTH_MAX} caracteres`,
    )
  return name
}

/** Parses the number's shortest text: amounts never go through floating-point arithmetic. */
export function readCap(cap: number | null): NanoBrl | null {
  if (cap === null) return null
  const text = String(cap)
  const nano = CENTS.test(text) ? parseBrl(text) : undefined
  if (nano === undefined)
    throw new RestRefusal(
      400,
      'invalid_request',
      'monthly_cap_brl: deve ter no máximo 2 casas decimais',
    )
  return nano
}

export function teamBody(found: Team): AnswerOf<typeof team> {
  const { limitNanoBrl, spentNanoBrl, heldNanoBrl } = found
  // Below zero if the cap was lowered below the amount already spent.
  const left = limitNanoBrl === null ? null : limitNanoBrl - spentNanoBrl - heldNanoBrl
  return {
    id: found.id,
    name: found.name,
    role: found.rank,
    owner: found.rank === 'owner' ? found.ownerName : maskedName(found.ownerName),
    monthly_cap_brl: limitNanoBrl === null ? null : jsonBrl(limitNanoBrl),
    spent_this_month_brl: jsonBrl(spentNanoBrl),
    held_brl: jsonBrl(heldNanoBrl),
    remaining_brl: left === null ? null : jsonBrl(left > 0n ? left : 0n),
    requests_this_month: found.requestCount,
    tokens_this_month: found.tokenCount,
    member_count: found.memberCount,
    key_count: found.keyCount,
    created_at: found.createdAt.toISOString(),
  }
}

/** Schemas of values that several resources of the API use. */
import Type from 'typebox'
import type { Suspension } from '../../customers/suspend-customer.ts'
import type { AnswerOf } from './answer-of.ts'

/** Text by an operator: one line that is not blank. The database cannot store NUL. */
const LINE = '^[^\\u0000-\\u001f\\u007f]*[^\\s\\u0000-\\u001f\\u007f][^\\u0000-\\u001f\\u007f]*$'

export function operatorLine(minLength: number, maxLength: number, description?: string) {
  return Type.String({
    minLength,
    maxLength,
    pattern: LINE,
    ...(description === undefined ? {} : { description }),
  })
}

export const reason = operatorLine(3, 500, 'Por quê.')

/** An exact amount in BRL, with up to nine decimals. */
export const brl = Type.Number({ description: 'BRL' })
/** An amount in USD, with up to twelve decimals. */
export const usd = Type.Number({ description: 'USD' })
export const count = Type.Integer({ minimum: 0 })
/** A UUID without the prefix `urn:uuid:`, which the format also allows. */
export const uuid = Type.String({ format: 'uuid', maxLength: 36 })
export const dateTime = Type.String({ format: 'date-time' })
export const date = Type.String({ format: 'date' })

/** A day in a query, limited to years that the database and every client support: the format alone accepts the year 0. */
export function dayInQuery(description: string) {
  return Type.Optional(Type.String({ format: 'date', pattern: '^[12]', description }))
}

export function nullable<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** NUL, and halves of characters, as JSON writes them: PostgreSQL stores neither in JSON. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i

/** Whether PostgreSQL stores this value as JSON. */
export function isStorableJson(value: unknown): boolean {
  return !UNSTORABLE.test(JSON.stringify(value))
}

/** PostgreSQL stores every character except NUL. */
const WITHOUT_NUL = '^[^\\u0000]*$'

export function storedText(minLength: number, maxLength: number, description?: string) {
  return Type.String({
    minLength,
    maxLength,
    pattern: WITHOUT_NUL,
    ...(description === undefined ? {} : { description }),
  })
}

/** An answer has these fields and no others. */
export function answer<Fields extends Type.TProperties>(
  fields: Fields,
  options: { description?: string } = {},
) {
  return Type.Object(fields, { ...options, additionalProperties: false })
}

/** An integer in a query, with its limits and its default. */
export function wholeNumber(minimum: number, maximum: number, fallback: number) {
  return Type.Optional(Type.Integer({ minimum, maximum, default: fallback }))
}

/** The REST format of errors. */
export const restErrorBody = answer({
  error: Type.String({ description: 'A code, to be read by programs.' }),
  details: Type.Optional(
    Type.String({ description: 'O que há de errado, para ser lido por pessoas.' }),
  ),
})

const described = (description: string) => ({ ...brl, description })

/** The balance as `balanceFields` writes it: balance = topped up + other credits - spent - refunded - other debits. */
export const balanceShape = {
  balance_brl: described(
    'total_topped_up_brl + total_other_credits_brl - total_spent_brl - total_refunded_brl - total_other_debits_brl',
  ),
  total_topped_up_brl: described('Recargas pagas.'),
  total_other_credits_brl: described('Créditos promocionais, recompensas e ajustes a favor.'),
  total_spent_brl: described('Cobranças de uso.'),
  total_refunded_brl: described('Reembolsos, também os que estão a caminho.'),
  total_other_debits_brl: described('Contestações, ajustes e recompensas retiradas.'),
}

/** Why an account is suspended, as its owner and operators read it. */
export const suspension = answer({
  since: dateTime,
  cause: Type.Enum(['chargeback', 'operator']),
  reason: Type.String({ description: 'O motivo, escrito para o cliente.' }),
})

export function suspensionBody(found: Suspension | undefined): AnswerOf<typeof suspension> | null {
  return found ? { ...found, since: found.since.toISOString() } : null
}

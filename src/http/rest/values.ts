/** The values that the contract is made of. */
import Type from 'typebox'

/** BRL, with exactly the digits it has: up to nine decimals. */
export const brl = Type.Number({ description: 'BRL' })
/** USD, up to twelve decimals. */
export const usd = Type.Number({ description: 'USD' })
export const count = Type.Integer({ minimum: 0 })
/** Without the `urn:uuid:` that the format allows too. */
export const uuid = Type.String({ format: 'uuid', maxLength: 36 })
export const dateTime = Type.String({ format: 'date-time' })
export const date = Type.String({ format: 'date' })

/** A day in a query, of years that the database knows and every client can tell apart: the format alone takes the year 0. */
export function dayInQuery(description: string) {
  return Type.Optional(Type.String({ format: 'date', pattern: '^[12]', description }))
}

export function nullable<Schema extends Type.TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()])
}

/** PostgreSQL keeps every character but NUL. */
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

/** A whole number in a query, with its limits and what it is without one. */
export function wholeNumber(minimum: number, maximum: number, fallback: number) {
  return Type.Optional(Type.Integer({ minimum, maximum, default: fallback }))
}

/** The REST format of errors. */
export const restErrorBody = answer({
  error: Type.String({ description: 'A code, to be read by programs.' }),
  details: Type.Optional(Type.String({ description: 'What exactly, to be read by people.' })),
})

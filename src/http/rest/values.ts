/** Schemas of values that several resources of the API use. */
import Type from 'typebox'

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

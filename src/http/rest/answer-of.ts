import type { Static, TSchema } from 'typebox'
import type { ExactNumber } from '../../platform/lib/money.ts'

/**
 * The type of an answer that matches this schema once it is written as JSON: the compiler checks handlers against it.
 */
export type AnswerOf<Schema extends TSchema> = Json<Static<Schema>>

/** JSON writes a `Date` as text, and an exact number digit by digit. */
type Json<Value> = Value extends number
  ? Value | ExactNumber
  : Value extends string
    ? Value | (string extends Value ? Date : never)
    : Value extends readonly (infer Entry)[]
      ? readonly Json<Entry>[]
      : Value extends object
        ? { readonly [Name in keyof Value]: Json<Value[Name]> }
        : Value

import fc from '../../harness/fast-check.ts'
import type { Schema } from '../../harness/operations.ts'
import { oddValue, plainText } from './texts.ts'

/** Values for a field of this name, if the schema does not define them completely. */
export type Hints = (field: string) => fc.Arbitrary<unknown> | undefined

const WITHOUT_NUL = '^[^\\u0000]*$'
/** Longer lists prove nothing more. */
const ITEMS_MAX = 6

/** Values that the schema allows, often at its limits. A hint is a single value; for lists it is an entry. */
export function valueOf(schema: Schema, field: string, hints: Hints): fc.Arbitrary<unknown> {
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return fc.oneof(...choices.map((choice) => valueOf(choice, field, hints)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.type === 'null') return fc.constant(null)
  if (schema.type === 'array') return listOf(schema, field, hints)
  const plain = singleOf(schema, hints)
  const hinted = hints(field)
  return hinted
    ? fc.oneof({ weight: 19, arbitrary: hinted }, { weight: 1, arbitrary: plain })
    : plain
}

function singleOf(schema: Schema, hints: Hints): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return wholeOf(schema)
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'object':
      return objectOf(schema, hints)
    default:
      return oddValue
  }
}

function textOf({ minLength = 0, maxLength = 200, pattern, format }: Schema): fc.Arbitrary<string> {
  const time = fc.date({
    min: new Date('2026-01-01'),
    max: new Date('2030-01-01'),
    noInvalidDate: true,
  })
  if (format === 'uuid') return fc.uuid()
  if (format === 'date') return time.map((date) => date.toISOString().slice(0, 10))
  if (format === 'date-time') return time.map((date) => date.toISOString())
  if (pattern === undefined || pattern === WITHOUT_NUL) return plainText(minLength, maxLength)
  return fc.stringMatching(new RegExp(pattern)).map((text) => text.slice(0, maxLength))
}

function wholeOf(schema: Schema): fc.Arbitrary<number> {
  const min = schema.minimum ?? -1_000
  const max = schema.maximum ?? min + 100_000
  return fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max }))
}

function numberOf(schema: Schema): fc.Arbitrary<number> {
  const above = schema.exclusiveMinimum
  const min = schema.minimum ?? (above === undefined ? 0 : above + 0.01)
  const max = schema.maximum ?? 1_000
  return fc.oneof(
    fc.constantFrom(min, max),
    fc.integer({ min: Math.ceil(min), max: Math.floor(max) }),
    fc
      .integer({ min: Math.ceil(min * 100), max: Math.floor(max * 100) })
      .map((cents) => cents / 100),
    fc.double({ min, max, noNaN: true }),
  )
}

function listOf(schema: Schema, field: string, hints: Hints): fc.Arbitrary<unknown[]> {
  const { minItems = 0, maxItems = ITEMS_MAX } = schema
  return fc.array(valueOf(schema.items ?? {}, field, hints), {
    minLength: minItems,
    maxLength: Math.max(minItems, Math.min(maxItems, ITEMS_MAX)),
  })
}

function objectOf(schema: Schema, hints: Hints): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties } = schema
  const known = fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, valueOf(field, name, hints)]),
    ),
    { requiredKeys: [...required] },
  )
  if (typeof additionalProperties !== 'object') return known
  const more = fc.dictionary(
    fc.constantFrom('nome', 'a', 'x_1', 'cidade'),
    valueOf(additionalProperties, '', hints),
    { maxKeys: 4 },
  )
  return fc.tuple(known, more).map(([fields, others]) => ({ ...others, ...fields }))
}

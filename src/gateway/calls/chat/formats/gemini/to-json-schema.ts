/** Translates Google's schemas (a part of OpenAPI 3.0, with types in capitals) to JSON Schema. */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { numberOf, protoFields } from './proto-json.ts'

/** Integers of 64 bits, which the JSON of protocol buffers writes as texts. */
const BOUNDS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
])

/** A body has at most 200 levels, and so has its schema. */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const { nullable, propertyOrdering: _order, example, ...fields } = protoFields(schema)
  const translated = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, translate(name, value)]),
  )
  const { type, enum: values } = translated
  // Not a type, but that there is none.
  if (type === 'type_unspecified') delete translated.type
  if (example !== undefined) translated.examples = [example]
  if (nullable !== true) return translated
  if (type !== undefined) translated.type = [type, 'null']
  if (Array.isArray(values)) translated.enum = [...(values as unknown[]), null]
  if (Array.isArray(translated.anyOf)) translated.anyOf.push({ type: 'null' })
  return translated
}

function translate(name: string, value: unknown): unknown {
  if (name === 'type') return typeof value === 'string' ? value.toLowerCase() : value
  if (name === 'items' || name === 'additionalProperties')
    return isObject(value) ? toJsonSchema(value) : value
  if (name === 'anyOf') return Array.isArray(value) ? value.map(translateEach) : value
  if (name === 'properties' && isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([property, each]) => [property, translateEach(each)]),
    )
  return BOUNDS.has(name) ? numberOf(value) : value
}

function translateEach(schema: unknown): unknown {
  return isObject(schema) ? toJsonSchema(schema) : schema
}

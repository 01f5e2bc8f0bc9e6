import { isObject } from '../../platform/lib/is-object.ts'
import { type JsonObject } from './read-field.ts'

/**
 * Generates a value that is valid by a JSON schema, always the same for the same schema and `seed`. Supports the keywords
 * that schemas for models use: types, enum, const, nested objects and arrays, bounds, common string formats, local `$ref`,
 * anyOf, oneOf and allOf. Does not support pattern, not, if/then, dependencies or remote `$ref`.
 */
export function generateJson(schema: unknown, seed = 0): unknown {
  return generate(schema, 'valor', { root: schema, seed, depth: 0, budget: { nodes: NODES_MAX } })
}

interface Place {
  readonly root: unknown
  readonly seed: number
  readonly depth: number
  /** Shared by the whole value, so that nested `minItems` cannot exhaust the memory. */
  readonly budget: { nodes: number }
}

const NODES_MAX = 5_000
/** Below this depth only required properties are generated, so that recursive schemas terminate. */
const FULL_DEPTH_MAX = 6
const DEPTH_MAX = 40
const STRING_CHARACTERS_MAX = 10_000

/** Realistic values for common names, so that a developer's first tool call looks plausible. */
const FAMILIAR_NAMES: readonly (readonly [RegExp, readonly string[]])[] = [
  [/cidade|city|location|local|lugar/i, ['São Paulo', 'Recife']],
  [/pa[ií]s|country/i, ['Brasil', 'Portugal']],
  [/e-?mail/i, ['ana@exemplo.com.br', 'joao@exemplo.com.br']],
  [/nome|name/i, ['Ana', 'João']],
  [/moeda|currency/i, ['BRL', 'USD']],
  [/data|date/i, ['2026-01-15', '2026-02-20']],
]

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-15',
  time: '12:30:00Z',
  'date-time': '2026-01-15T12:30:00Z',
  duration: 'PT30M',
  email: 'ana@exemplo.com.br',
  hostname: 'exemplo.com.br',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://exemplo.com.br/',
  uuid: '0b5c6f6e-3d4a-4c1e-9f2b-7a8d9e0f1a2b',
}

function generate(given: unknown, name: string, place: Place): unknown {
  const schema = resolve(given, place)
  if (place.depth > DEPTH_MAX || --place.budget.nodes < 0) return null
  if ('const' in schema) return schema.const
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    return schema.enum[place.seed % schema.enum.length]
  }
  const inner = { ...place, depth: place.depth + 1 }
  const alternatives = schema.anyOf ?? schema.oneOf
  if (Array.isArray(alternatives) && alternatives.length > 0) {
    const { anyOf: _any, oneOf: _one, ...own } = schema
    const chosen = resolve(chooseAlternative(alternatives, place), place)
    return generate(mergeSchemas(own, chosen), name, inner)
  }
  switch (typeOf(schema, place.depth)) {
    case 'object':
      return generateObject(schema, inner)
    case 'array':
      return generateArray(schema, name, inner)
    case 'string':
      return generateString(schema, name, place.seed)
    case 'integer':
      return generateNumber(schema, place.seed, true)
    case 'number':
      return generateNumber(schema, place.seed, false)
    case 'boolean':
      return place.seed % 2 === 0
    default:
      return null
  }
}

function generateObject(schema: JsonObject, place: Place): JsonObject {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => typeof name === 'string')
    : []
  const isDeep = place.depth > FULL_DEPTH_MAX || place.budget.nodes < NODES_MAX / 2
  const names = isDeep ? required : [...new Set([...Object.keys(properties), ...required])]
  // `fromEntries` and not assignment, because a property may be named `__proto__`.
  return Object.fromEntries(
    names.map((name) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : { type: 'string' }
      return [name, generate(property, name, place)]
    }),
  )
}

function generateArray(schema: JsonObject, name: string, place: Place): unknown[] {
  const tuple = Array.isArray(schema.prefixItems) ? schema.prefixItems : []
  const least = numberOr(schema.minItems, 0)
  const wanted = place.depth > FULL_DEPTH_MAX ? least : Math.max(least, tuple.length, 1)
  const length = Math.min(wanted, numberOr(schema.maxItems, wanted))
  const items: unknown[] = []
  while (items.length < length && place.budget.nodes > 0) {
    const item: unknown = tuple[items.length] ?? schema.items ?? { type: 'string' }
    items.push(generate(item, name, { ...place, seed: place.seed + items.length }))
  }
  return items
}

function generateString(schema: JsonObject, name: string, seed: number): string {
  const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined
  const familiar = FAMILIAR_NAMES.find(([pattern]) => pattern.test(name))?.[1]
  const base = familiar?.[seed % familiar.length] ?? `exemplo de ${name}`
  // Items of one array differ, for `uniqueItems`.
  const text = format ?? (seed < (familiar?.length ?? 1) ? base : `${base} ${seed + 1}`)
  const least = Math.min(numberOr(schema.minLength, 0), STRING_CHARACTERS_MAX)
  return text.padEnd(least, '.').slice(0, numberOr(schema.maxLength, STRING_CHARACTERS_MAX))
}

function generateNumber(schema: JsonObject, seed: number, isInteger: boolean): number {
  const least = Math.max(
    numberOr(schema.minimum, -Infinity),
    numberOr(schema.exclusiveMinimum, -Infinity),
  )
  const most = Math.min(
    numberOr(schema.maximum, Infinity),
    numberOr(schema.exclusiveMaximum, Infinity),
  )
  const wished = (isInteger ? 1 : 1.5) + seed
  const near = least < wished && wished < most ? wished : between(least, most)
  const step = numberOr(schema.multipleOf, isInteger ? 1 : 0)
  if (step <= 0) return near
  const rounded = Math.floor(near / step) * step
  const isTooLow = rounded < least || rounded === schema.exclusiveMinimum
  return isTooLow ? rounded + step : rounded
}

function between(least: number, most: number): number {
  if (least === -Infinity) return most - 1
  if (most === Infinity) return least + 1
  return (least + most) / 2
}

/** Below the full depth, null ends a recursive schema. */
function chooseAlternative(alternatives: readonly unknown[], place: Place): unknown {
  const isNull = (one: unknown) => isObject(one) && one.type === 'null'
  const preferred =
    place.depth > FULL_DEPTH_MAX
      ? alternatives.find(isNull)
      : alternatives.find((one) => !isNull(one))
  return preferred ?? alternatives[0]
}

function typeOf(schema: JsonObject, depth: number): unknown {
  if (Array.isArray(schema.type)) {
    if (depth > FULL_DEPTH_MAX && schema.type.includes('null')) return 'null'
    return schema.type.find((type) => type !== 'null') ?? 'null'
  }
  if (schema.type !== undefined) return schema.type
  if ('properties' in schema || 'required' in schema) return 'object'
  if ('items' in schema || 'prefixItems' in schema) return 'array'
  return 'string'
}

/** Follows `$ref` and merges the parts of `allOf`. */
function resolve(given: unknown, place: Place, depth = 0): JsonObject {
  if (!isObject(given)) return {}
  if (depth > DEPTH_MAX || --place.budget.nodes < 0) return { type: 'null' }
  if (typeof given.$ref === 'string') {
    return resolve(findReference(place.root, given.$ref), place, depth + 1)
  }
  if (!Array.isArray(given.allOf)) return given
  const { allOf, ...own } = given
  return allOf
    .map((part) => resolve(part, place, depth + 1))
    .reduce((merged, part) => mergeSchemas(merged, part), own)
}

function mergeSchemas(one: JsonObject, other: JsonObject): JsonObject {
  const merged = { ...one, ...other }
  if (isObject(one.properties) && isObject(other.properties)) {
    merged.properties = { ...one.properties, ...other.properties }
  }
  if (Array.isArray(one.required) && Array.isArray(other.required)) {
    merged.required = [...one.required, ...other.required]
  }
  return merged
}

function findReference(root: unknown, reference: string): unknown {
  if (!reference.startsWith('#')) return {}
  let found: unknown = root
  for (const step of reference.slice(1).split('/').filter(Boolean)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return found
}

function numberOr<Other>(value: unknown, other: Other): number | Other {
  return typeof value === 'number' && Number.isFinite(value) ? value : other
}

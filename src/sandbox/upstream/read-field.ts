import { isObject } from '../../platform/lib/is-object.ts'

/** Thrown for a request that violates OpenAI's format; it becomes a 400. */
export class BadRequest extends Error {
  readonly param: string | null
  readonly code: string | null

  constructor(message: string, param: string | null, code: string | null) {
    super(message)
    this.param = param
    this.code = code
  }
}

export type JsonObject = { [name: string]: unknown }

export interface NumberRule {
  readonly minimum?: number
  readonly maximum?: number
  readonly isInteger?: boolean
}

/** A null field counts as missing, as in OpenAI's API. */
export function readNumber(body: JsonObject, name: string, rule: NumberRule): number | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  const kind = rule.isInteger === true ? 'integer' : 'decimal'
  if (typeof value !== 'number' || (rule.isInteger === true && !Number.isInteger(value))) {
    throw invalidType(name, kind === 'integer' ? 'an integer' : 'a decimal', value)
  }
  if (rule.maximum !== undefined && value > rule.maximum) {
    throw new BadRequest(
      `Invalid '${name}': ${kind} above maximum value. ` +
        `Expected a value <= ${rule.maximum}, but got ${value} instead.`,
      name,
      `${kind}_above_max_value`,
    )
  }
  if (rule.minimum !== undefined && value < rule.minimum) {
    throw new BadRequest(
      `Invalid '${name}': ${kind} below minimum value. ` +
        `Expected a value >= ${rule.minimum}, but got ${value} instead.`,
      name,
      `${kind}_below_min_value`,
    )
  }
  return value
}

export function readFlag(body: JsonObject, name: string): boolean | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'boolean') throw invalidType(name, 'a boolean', value)
  return value
}

export function readModelName(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value
  throw new BadRequest('you must provide a model parameter', 'model', 'missing_required_parameter')
}

/** Returns one of the choices, or undefined if the field is missing. */
export function readChoice<Choice extends string>(
  body: JsonObject,
  name: string,
  choices: readonly Choice[],
): Choice | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  const choice = choices.find((one) => one === value)
  if (choice !== undefined) return choice
  const shown = typeof value === 'string' ? `'${value}'` : JSON.stringify(value)
  const supported = enumeration.format(choices.map((one) => `'${one}'`))
  throw new BadRequest(
    `Invalid value: ${shown}. Supported values are: ${supported}.`,
    name,
    'invalid_value',
  )
}

const enumeration = new Intl.ListFormat('en', { type: 'conjunction' })

export function emptyString(param: string): BadRequest {
  return new BadRequest(
    `Invalid '${param}': empty string. ` +
      `Expected a string with minimum length 1, but got an empty string instead.`,
    param,
    'empty_string',
  )
}

export function invalidType(param: string, expected: string, value: unknown): BadRequest {
  return new BadRequest(
    `Invalid type for '${param}': expected ${expected}, but got ${nameType(value)} instead.`,
    param,
    'invalid_type',
  )
}

export function missing(param: string): BadRequest {
  return new BadRequest(
    `Missing required parameter: '${param}'.`,
    param,
    'missing_required_parameter',
  )
}

function nameType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return `a ${typeof value}`
}

/** Parses the body of a request. Throws `BadRequest` with OpenAI's wording. */
export function parseJsonBody(text: string): JsonObject {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new BadRequest(
      `We could not parse the JSON body of your request. (${(cause as Error).message})`,
      null,
      null,
    )
  }
  if (!isObject(body)) throw new BadRequest('The JSON body must be an object.', null, null)
  return body
}

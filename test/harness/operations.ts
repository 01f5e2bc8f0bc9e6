/** The description of the interface as tests read it: its operations, and whether an answer is as described. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { ask } from './ask.ts'

export interface OpenApi {
  readonly openapi: string
  readonly servers: readonly { readonly url: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

export interface Described {
  readonly summary?: string
  readonly tags?: readonly string[]
  /** Not there: nobody needs a key. */
  readonly security?: readonly object[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
  readonly responses: Readonly<Record<string, Response>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Response {
  readonly description: string
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}

/** As much of JSON Schema as the document uses. */
export interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly default?: unknown
}

/** An operation by its name, as in `GET /usage`. */
export interface Operation {
  readonly name: string
  readonly method: string
  /** With `{name}` for each parameter. */
  readonly path: string
  readonly described: Described
}

/** The request for an answer, whichever client received it. */
export interface Answered {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

export async function readOpenApi(baseUrl: string): Promise<OpenApi> {
  return (await ask(baseUrl, '/openapi.json')).json as OpenApi
}

export function operationsOf({ paths }: OpenApi): Map<string, Operation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([key, described]): [string, Operation] => {
        const method = key.toUpperCase()
        const name = `${method} ${path}`
        return [name, { name, method, path, described }]
      }),
    ),
  )
}

/** Its errors have the proxy format: only this format says in a body that the key is missing. */
export function isModelCall({ described }: Operation): boolean {
  return described.responses['401']?.content !== undefined
}

/** Describes how an answer deviates from its schema; undefined if it does not. */
export function createAnswerCheck(): (
  operation: Operation,
  answer: Answered,
) => string | undefined {
  const ajv = createAjv()
  const bySchema = new Map<Schema, ValidateFunction>()
  /** Most operations describe their refusals alike, and Ajv takes 5 ms for each schema. */
  const byText = new Map<string, ValidateFunction>()

  function validatorOf(schema: Schema): ValidateFunction {
    const known = bySchema.get(schema)
    if (known) return known
    const text = JSON.stringify(schema)
    const validate = byText.get(text) ?? ajv.compile(schema)
    byText.set(text, validate)
    bySchema.set(schema, validate)
    return validate
  }

  return ({ name, described }, { status, contentType, text }) => {
    const response = described.responses[status]
    if (!response) return `${name} says nothing of ${status}`
    if (!response.content) return text === '' ? undefined : `${name} describes no body of ${status}`
    const type = contentType.split(';')[0] as string
    const schema = response.content[type]?.schema
    if (!schema)
      return `${name} says nothing of ${type || 'an answer without a type'} for ${status}`
    const value = type === 'application/json' ? parse(text) : text
    const validate = validatorOf(schema)
    if (validate(value)) return undefined
    return `${ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`
  }
}

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } })
  ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  ajv.addFormat('date-time', isDateTime)
  ajv.addFormat('date', /^\d{4}-\d{2}-\d{2}$/)
  return ajv
}

function isDateTime(text: string): boolean {
  const time = new Date(text)
  return !Number.isNaN(time.getTime()) && time.toISOString() === text
}

/** Text that is not JSON is not a value that a schema allows. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Generates the types of the dashboard's API client from the server's OpenAPI document, which the server makes
 * of the schemas that it validates with. So there is no second copy of the contract.
 */
import { compile, type JSONSchema } from 'json-schema-to-typescript'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

interface Operation {
  readonly summary?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, { schema?: JSONSchema }>> }
  readonly responses: Readonly<Record<string, Answer>>
}

interface Answer {
  readonly content?: Readonly<Record<string, { schema?: JSONSchema }>>
}

interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JSONSchema
}

const HEAD = `/**
 * Made of /v1/openapi.json by \`npm run web:contract\`: not to be edited. A test says when it is old.
 */`

export async function contractOf(document: OpenApiDocument): Promise<string> {
  const methods = METHODS.map((method) => {
    const operations = Object.entries(document.paths)
      .filter(([, item]) => item[method])
      .map(([path, item]) => [path, schemaOf(item[method] as Operation)] as const)
    return [method, objectOf(Object.fromEntries(operations))] as const
  })
  const schema = { title: 'Contract', ...objectOf(Object.fromEntries(methods)) }
  return compile(schema, 'Contract', {
    additionalProperties: false,
    bannerComment: HEAD,
    // Bounded lists would become tuples of every length, which tell a client nothing useful.
    ignoreMinAndMaxItems: true,
    style: { semi: false, singleQuote: true, printWidth: 100 },
  })
}

function schemaOf(operation: Operation): JSONSchema {
  const { summary, parameters = [], requestBody, responses } = operation
  const parts: Record<string, JSONSchema> = {}
  for (const [name, place] of [
    ['path', 'path'],
    ['query', 'query'],
  ] as const) {
    const those = parameters.filter((parameter) => parameter.in === place)
    if (those.length > 0) parts[name] = ofParameters(those)
  }
  // The dashboard sends a key with each request that takes one; `once` in its client demands it.
  if (parameters.some(({ in: place, name }) => place === 'header' && name === 'idempotency-key'))
    parts.idempotency_key = { type: 'string' }
  const body = requestBody?.content?.['application/json']?.schema
  if (body) parts.body = plain(body)
  parts.answer = answerOf(responses)
  return { ...objectOf(parts), ...(summary ? { description: summary } : {}) }
}

function answerOf(responses: Operation['responses']): JSONSchema {
  const sound = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const schema = sound?.content?.['application/json']?.schema
  return schema ? plain(schema) : { tsType: sound?.content ? 'string' : 'undefined' }
}

function ofParameters(parameters: readonly Parameter[]): JSONSchema {
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      parameters.map(({ name, schema, description }) => [
        name,
        plain(description ? { ...schema, description } : schema),
      ]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  }
}

function objectOf(properties: Record<string, JSONSchema>): JSONSchema {
  return {
    type: 'object',
    additionalProperties: false,
    properties,
    required: Object.keys(properties),
  }
}

/**
 * Removes titles, because each of them would become a type of that name. A schema that leaves the type open (an
 * amount that is checked by hand) becomes `unknown`, not an object.
 */
function plain(schema: JSONSchema): JSONSchema {
  const { title: _, $id: __, ...rest } = schema
  const inside: JSONSchema = { ...rest }
  if (rest.properties) {
    inside.properties = Object.fromEntries(
      Object.entries(rest.properties).map(([name, each]) => [name, plain(each)]),
    )
  }
  for (const name of ['items', 'additionalProperties'] as const) {
    const each = rest[name]
    if (typeof each === 'object' && !Array.isArray(each)) inside[name] = plain(each)
  }
  for (const name of ['anyOf', 'oneOf', 'allOf'] as const) {
    if (rest[name]) inside[name] = rest[name].map(plain)
  }
  return SAYS_WHAT.some((name) => name in inside) ? inside : { ...inside, tsType: 'unknown' }
}

const SAYS_WHAT = [
  'type',
  'enum',
  'const',
  'properties',
  'anyOf',
  'oneOf',
  'allOf',
  '$ref',
  'items',
]

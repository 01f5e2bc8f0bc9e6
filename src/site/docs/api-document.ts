/** As much of the OpenAPI document as the reference shows, and its operations in the document's order. */
import { isOperatorAccess, isAccess, type Access } from '../../http/rest/access.ts'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly format?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly default?: unknown
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema?: Schema
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>

interface Answer {
  readonly description: string
  readonly content?: Content
}

interface Described {
  readonly tags?: readonly string[]
  readonly summary?: string
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses?: Readonly<Record<string, Answer>>
}

export interface ApiDocument {
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Described>>>>
}

export interface Operation {
  /** As in `GET /usage`. */
  readonly name: string
  readonly method: string
  /** Under `/v1`, with `{name}` for each parameter. */
  readonly path: string
  /** Of its heading: `get-usage`. */
  readonly anchor: string
  readonly tag: string
  readonly summary: string
  readonly access: Access
  readonly isForOperators: boolean
  readonly parameters: readonly Parameter[]
  readonly body: { readonly type: string; readonly schema: Schema } | undefined
  readonly answers: readonly { readonly status: number; readonly answer: Answer }[]
}

export function listOperations({ paths = {} }: ApiDocument): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      readOperation(method.toUpperCase(), path, described),
    ),
  )
}

function readOperation(method: string, path: string, described: Described): Operation {
  const { tags = [], summary = '', parameters = [], requestBody, responses = {} } = described
  const access = accessOf(described)
  const [body] = Object.entries(requestBody?.content ?? {})
  return {
    name: `${method} ${path}`,
    method,
    path,
    anchor: `${method} ${path}`
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/-$/, ''),
    tag: tags[0] ?? '',
    summary,
    access,
    isForOperators: isOperatorAccess(access),
    parameters,
    body: body && { type: body[0], schema: body[1].schema ?? {} },
    answers: Object.entries(responses).map(([status, answer]) => ({
      status: Number(status),
      answer,
    })),
  }
}

/** The ways to authenticate name the access, as roles (OpenAPI 3.1, security requirement objects). */
function accessOf({ security = [] }: Described): Access {
  const [named] = security.flatMap((way) => Object.values(way).flat())
  return isAccess(named) ? named : 'public'
}

export interface ErrorCode {
  readonly status: number
  readonly code: string
}

/**
 * Returns the error codes of an operation. Descriptions of errors end in them, after the last sentence
 * (`rest-route.ts`). Some codes are sentences.
 */
export function errorCodesOf({ answers }: Pick<Operation, 'answers'>): readonly ErrorCode[] {
  return answers
    .filter(({ status }) => status >= 400)
    .flatMap(({ status, answer }) => {
      const codes = answer.description.split('. ').at(-1) ?? ''
      if (codes.endsWith('.')) return []
      return [...new Set(codes.split(', '))].map((code) => ({ status, code }))
    })
}

/** Returns the place of a code on the page of errors. */
export function errorAnchor(code: string): string {
  return code.replace(/[^a-z0-9_]+/g, '-')
}

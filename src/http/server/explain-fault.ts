import type { ActiveKey } from '../../customers/key-cache.ts'
import type { IncomingCaller } from '../../gateway/calls/refuse-call.ts'
import { createRequestSlot } from './serve-in-turn.ts'

export type CheckedCaller = IncomingCaller & { readonly key: ActiveKey }

/** The caller of each model call, from its check on. */
export const checkedCallers = createRequestSlot<CheckedCaller>('checked caller')

/** The requirement of a JSON schema that a value does not meet, in Portuguese for customers. */
export interface SchemaFault {
  readonly keyword?: string
  readonly params?: Readonly<Record<string, unknown>>
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'um texto',
  number: 'um número',
  integer: 'um número inteiro',
  boolean: 'true ou false',
  array: 'uma lista',
  object: 'um objeto',
  null: 'null',
}
const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'um UUID',
  email: 'um e-mail',
  date: 'uma data, como 2026-12-31',
  'date-time': 'uma data com hora, como 2026-12-31T23:59:00Z',
}

/** Returns the predicate of a sentence whose subject is the field, such as `deve ser um texto`. */
export function explainFault({ keyword = '', params = {} }: SchemaFault): string {
  const limit = String(params['limit'])
  switch (keyword) {
    case 'required':
      return 'é obrigatório'
    case 'additionalProperties':
      return 'não é conhecido'
    case 'type':
      return `deve ser ${typesOf(params['type'])}`
    case 'format':
      return `deve ser ${FORMATS[String(params['format'])] ?? String(params['format'])}`
    case 'enum':
      return `deve ser um destes: ${[params['allowedValues']].flat().join(', ')}`
    case 'const':
      return `deve ser ${JSON.stringify(params['allowedValue'])}`
    case 'pattern':
      return `deve ter o formato ${String(params['pattern'])}`
    case 'minLength':
      return `deve ter no mínimo ${counted(limit, 'caractere')}`
    case 'maxLength':
      return `deve ter no máximo ${counted(limit, 'caractere')}`
    case 'minItems':
      return `deve ter no mínimo ${counted(limit, 'item', 'itens')}`
    case 'maxItems':
      return `deve ter no máximo ${counted(limit, 'item', 'itens')}`
    case 'minProperties':
      return `deve ter no mínimo ${counted(limit, 'campo')}`
    case 'maxProperties':
      return `deve ter no máximo ${counted(limit, 'campo')}`
    case 'minimum':
      return `deve ser no mínimo ${limit}`
    case 'maximum':
      return `deve ser no máximo ${limit}`
    case 'exclusiveMinimum':
      return `deve ser maior que ${limit}`
    case 'exclusiveMaximum':
      return `deve ser menor que ${limit}`
    case 'multipleOf':
      return `deve ser múltiplo de ${String(params['multipleOf'])}`
    case 'uniqueItems':
      return 'não pode ter itens repetidos'
    default:
      return 'não é válido'
  }
}

function typesOf(types: unknown): string {
  return [types]
    .flat()
    .flatMap((type) => String(type).split(','))
    .map((type) => TYPES[type] ?? type)
    .join(' ou ')
}

function counted(limit: string, one: string, many = `${one}s`): string {
  return `${limit} ${limit === '1' ? one : many}`
}

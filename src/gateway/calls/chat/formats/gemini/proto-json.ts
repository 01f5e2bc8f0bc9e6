/**
 * The JSON of protocol buffers, as Google's API reads it: names of fields in camelCase or in snake_case, numbers also as
 * texts, and one object where a list may be. Values of `Struct` (arguments, results, JSON Schemas) have names of their own
 * and are never read by these functions.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import { InvalidField } from '../fields.ts'

/** The fields of a message by their names in camelCase; without those that are null. */
export function protoFields(message: JsonObject): JsonObject {
  const fields = Object.entries(message).filter(([, value]) => !isAbsent(value))
  return Object.fromEntries(fields.map(([name, value]) => [camelCase(name), value]))
}

function camelCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())
}

/** Returns the fields of a message as `protoFields` does, and none of a message that is not there. */
export function messageAt(value: unknown, path: string): JsonObject {
  if (isAbsent(value)) return {}
  if (!isObject(value)) throw new InvalidField(`O campo "${path}" deve ser um objeto.`)
  return protoFields(value)
}

/** Returns the messages of a list, each as `protoFields` does; one object is a list of one. */
export function messagesAt(value: unknown, path: string): JsonObject[] {
  if (isAbsent(value)) return []
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (!list.every(isObject))
    throw new InvalidField(`O campo "${path}" deve ser uma lista de objetos.`)
  return list.map(protoFields)
}

/** A number, which may be written as a text; any other value as it is. */
export function numberOf(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value)
    ? Number(value)
    : value
}

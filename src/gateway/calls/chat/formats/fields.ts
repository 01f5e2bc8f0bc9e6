import type { JsonObject } from '../../../providers/contract.ts'

/** A fault of a request, in Portuguese. Thrown by the translation of one request and caught by its format. */
export class InvalidField extends Error {}

/** Copies the given fields of an upstream's object that have a value; all others stay hidden. */
export function copyFields(fields: Iterable<string>, from: JsonObject, to: JsonObject): JsonObject {
  for (const field of fields) if (from[field] !== undefined) to[field] = from[field]
  return to
}

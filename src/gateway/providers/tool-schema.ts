import type { JsonObject } from './contract.ts'

/** Returns the least schema that providers take: the parameters of a function are the properties of an object. */
export function toToolSchema(schema: JsonObject): JsonObject {
  const isObjects = schema.type === undefined || schema.type === 'object'
  if (!isObjects || (schema.type === 'object' && schema.properties !== undefined)) return schema
  return { ...schema, type: 'object', properties: schema.properties ?? {} }
}

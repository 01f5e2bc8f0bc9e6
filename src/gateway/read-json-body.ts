import { isObject } from '../lib/is-object.ts'
import type { JsonObject } from '../providers/contract.ts'
import { refusals, type Refusal } from './refusal.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Far below the depth at which serializing the JSON again overflows the stack. Each level takes at least two bytes. */
const DEPTH_MAX = 200

/** Parses the JSON object of a request body. */
export function readJsonBody(raw: Buffer): JsonObject | Refusal {
  const body = parseObject(raw)
  if (!body)
    return refusals.invalidRequest('O corpo da requisição não é um objeto JSON válido em UTF-8.')
  if (raw.length > 2 * DEPTH_MAX && isDeeperThan(body, DEPTH_MAX))
    return refusals.invalidRequest(
      `O corpo da requisição passa de ${DEPTH_MAX} níveis de objetos e listas.`,
    )
  return body
}

function parseObject(raw: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(raw))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isDeeperThan(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (depthMax === 0) return true
  return Object.values(value).some((inner) => isDeeperThan(inner, depthMax - 1))
}

import { BODY_BOUNDS, findJsonExcess } from '../../platform/lib/bound-json.ts'
import { parseExactly } from '../../platform/lib/large-integers.ts'
import { isDeeperThan } from '../../platform/lib/is-deeper-than.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import type { JsonObject } from '../providers/contract.ts'
import { refusals, type Refusal } from './refusal.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Each level takes at least two bytes. */
const DEPTH_MAX = BODY_BOUNDS.depthMax
/** A smaller body cannot contain enough values to matter; its depth is checked after parsing. */
const BOUNDED_FROM_BYTES = 16 * 1024

/** Parses the JSON object of a request body. */
export function readJsonBody(raw: Buffer): JsonObject | Refusal {
  const excess = raw.length > BOUNDED_FROM_BYTES ? findJsonExcess(raw, BODY_BOUNDS) : undefined
  if (excess === 'size') return TOO_MANY_VALUES
  if (excess === 'depth') return TOO_DEEP
  const body = parseObject(raw)
  if (!body)
    return refusals.invalidRequest('O corpo da requisição não é um objeto JSON válido em UTF-8.')
  const isSmall = raw.length > 2 * DEPTH_MAX && raw.length <= BOUNDED_FROM_BYTES
  return isSmall && isDeeperThan(body, DEPTH_MAX) ? TOO_DEEP : body
}

const TOO_DEEP = refusals.invalidRequest(
  `O corpo da requisição passa de ${DEPTH_MAX} níveis de objetos e listas.`,
)
export const TOO_MANY_VALUES = refusals.invalidRequest(
  'O corpo da requisição tem valores demais: até 100 mil objetos, listas e campos, e até 500 mil itens de listas.',
)

function parseObject(raw: Buffer): JsonObject | undefined {
  try {
    const value = parseExactly(utf8.decode(raw))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

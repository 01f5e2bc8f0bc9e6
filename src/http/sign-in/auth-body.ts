import type { FastifyRequest } from 'fastify'
import { isMailAddress } from '../../deliveries/email/mail-address.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { isOwnPath } from '../../identity/sign-in/own-path.ts'

const BASE64URL = /^[A-Za-z0-9_-]{1,6000}$/
const TRANSPORT = /^[a-z-]{1,20}$/
const TRANSPORTS_MAX = 10
const PARTS = [
  'clientDataJSON',
  'attestationObject',
  'authenticatorData',
  'signature',
  'userHandle',
]

/** A browser's answer for a passkey (`PublicKeyCredential.toJSON`); only its known parts are passed on. */
function readCredential(value: unknown): object | undefined {
  if (!isObject(value) || !isObject(value['response'])) return undefined
  const { id, rawId, response } = value
  if (typeof id !== 'string' || !BASE64URL.test(id) || rawId !== id) return undefined
  const parts: Record<string, unknown> = {}
  for (const name of PARTS) {
    const part = response[name]
    if (part === undefined || part === null) continue
    if (typeof part !== 'string' || !BASE64URL.test(part)) return undefined
    parts[name] = part
  }
  const transports = Array.isArray(response['transports']) ? response['transports'] : []
  parts['transports'] = transports
    .filter((each) => typeof each === 'string' && TRANSPORT.test(each))
    .slice(0, TRANSPORTS_MAX)
  return { id, rawId, type: 'public-key', response: parts, clientExtensionResults: {} }
}

export const AUTH_BODY_BYTES_MAX = 8_192
const TEXT_MAX = 1_000
const LENGTHS: Readonly<Record<string, number>> = {
  name: 100,
  referralCode: 40,
  password: 200,
  code: 40,
  id: 36,
  provider: 40,
}

export type Fields = Readonly<Record<string, unknown>>

/** Picks the fields of these names from a body and ignores the others. */
export function readBody(
  request: FastifyRequest,
  names: readonly string[],
): { fields: Fields } | { wrong: string } {
  const raw = request.body
  if (!Buffer.isBuffer(raw) || raw.length === 0) return { fields: {} }
  // A form of another site cannot send JSON.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    return { wrong: 'content-type: deve ser application/json' }
  let body: unknown
  try {
    body = JSON.parse(raw.toString('utf8'))
  } catch {
    return { wrong: 'body: deve ser JSON' }
  }
  if (!isObject(body)) return { wrong: 'body: deve ser um objeto' }
  const fields: Record<string, unknown> = {}
  for (const name of names) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (name === 'response') {
      const credential = readCredential(value)
      if (!credential)
        return { wrong: 'response: deve ser uma credencial como a do WebAuthn em JSON' }
      fields[name] = credential
      continue
    }
    const wrong = faultOf(name, value)
    if (wrong !== undefined) return { wrong: `${name}: ${wrong}` }
    fields[name] = value
  }
  return { fields }
}

function faultOf(name: string, value: unknown): string | undefined {
  if (typeof value === 'boolean') return undefined
  if (typeof value !== 'string') return 'deve ser um texto'
  if (!value.isWellFormed() || /\p{Cc}/u.test(value)) return 'deve ser uma linha de texto'
  if (value.length > (LENGTHS[name] ?? TEXT_MAX)) return 'é longo demais'
  if (name === 'email' && !isMailAddress(value)) return 'deve ser um endereço de e-mail'
  if (name === 'returnTo' && !isOwnPath(value)) return 'deve ser um caminho deste site'
  return undefined
}

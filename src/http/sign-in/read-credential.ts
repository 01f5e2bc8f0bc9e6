import { isObject } from '../../platform/lib/is-object.ts'

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
export function readCredential(value: unknown): object | undefined {
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

/** A phone's part in a passkey (WebAuthn, ES256, no attestation), without its screen. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const HAS_CREDENTIAL = 0x40

export interface Device {
  /** The answer to the options of a registration; `isVerified` false: without the owner's finger. */
  create(challenge: string, more?: { isVerified?: boolean }): object
  /** The answer to the options of a sign-in. */
  get(challenge: string, more?: { isVerified?: boolean; origin?: string }): object
}

export function createDevice(origin: string): Device {
  const id = randomBytes(16)
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  let counter = 0

  const authenticatorData = (isVerified: boolean, credential = Buffer.alloc(0)): Buffer => {
    counter += 1
    const flags = Buffer.from([
      USER_PRESENT |
        (isVerified ? USER_VERIFIED : 0) |
        (credential.length > 0 ? HAS_CREDENTIAL : 0),
    ])
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(new URL(origin).hostname), flags, count, credential])
  }
  const named = (response: object): object => {
    const text = id.toString('base64url')
    return { id: text, rawId: text, type: 'public-key', response, clientExtensionResults: {} }
  }
  return {
    create(challenge, { isVerified = true } = {}) {
      const length = Buffer.from([0, id.length])
      const credential = Buffer.concat([Buffer.alloc(16), length, id, coseKey(keys.publicKey)])
      const data = authenticatorData(isVerified, credential)
      return named({
        clientDataJSON: clientData('webauthn.create', challenge, origin).toString('base64url'),
        attestationObject: attestation(data).toString('base64url'),
        transports: ['internal'],
      })
    },
    get(challenge, { isVerified = true, origin: from = origin } = {}) {
      const data = authenticatorData(isVerified)
      const client = clientData('webauthn.get', challenge, from)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), keys.privateKey)
      return named({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      })
    },
  }
}

function clientData(type: string, challenge: string, origin: string): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

/** In CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}. */
function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
}

/** In CBOR: {"fmt": "none", "attStmt": {}, "authData": data}. */
function attestation(data: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
    Buffer.from([data.length]),
    data,
  ])
}

function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

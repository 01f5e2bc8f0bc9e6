/**
 * Ids of tool calls as customers see them. An upstream's own ids show who it is (`toolu_bdrk_…`), so they are encrypted
 * into a neutral shape and decrypted when the client sends them back: nothing is stored, every node can read them, and
 * ids that are not ours pass unchanged.
 */
import { createCipheriv, hash, timingSafeEqual } from 'node:crypto'
import { isObject } from '../../../platform/lib/is-object.ts'
import { deriveKey } from '../../../platform/lib/sealing-key.ts'
import type { JsonObject } from '../../providers/contract.ts'

export interface ToolCallIds {
  /** Replaces the ids in a message or delta of an upstream, in place. */
  hide(message: JsonObject): void
  /** Restores the upstream's ids in the messages of a request, in place. The restored ids are never longer. */
  reveal(messages: readonly JsonObject[]): void
  /** One id as `hide` writes it. */
  hidden(id: string): string
  /** One id as `reveal` restores it; any other value as it is. */
  revealed(id: unknown): unknown
}

const PUBLIC_PREFIX = 'call_'
/**
 * The bytes of a tag. With the prefix, ids of the known shapes have 40 characters: the most that OpenAI takes, if the
 * client asks it next.
 */
const TAG_BYTES = 6
const PLAIN_BYTES = 20
/** A longer id is not an id of a known upstream, and passes unchanged in both directions. */
const ID_BYTES_MAX = 1_024
const PUBLIC_ID = /^call_[A-Za-z0-9_-]{35,1400}$/

/** The usual ids are a prefix and digits of a radix, which fit into fewer bytes as a number. Only append to this list. */
const SHAPES = [
  ['chatcmpl-tool-', 16],
  ['call_', 16],
  ['call_', 62],
  ['toolu_', 62],
  ['toolu_bdrk_', 62],
  ['toolu_vrtx_', 62],
  ['tooluse_', 62],
  ['fc_', 62],
  ['', 62],
] as const
const RAW = 0xff
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

/** The first key hides; ids that any of the keys hid are revealed. */
export function createToolCallIds(sealingKeys: readonly [Buffer, ...Buffer[]]): ToolCallIds {
  const ciphers = sealingKeys.map(createIdCipher)
  const [current] = ciphers as [IdCipher, ...IdCipher[]]

  function revealed(id: unknown): string | undefined {
    if (typeof id !== 'string' || !PUBLIC_ID.test(id)) return undefined
    for (const cipher of ciphers) {
      const own = cipher.open(id)
      if (own !== undefined) return own
    }
    return undefined
  }

  function restore(carrier: JsonObject, field: 'id' | 'tool_call_id'): void {
    const id = revealed(carrier[field])
    if (id !== undefined) carrier[field] = id
  }

  return {
    // An id that is written twice, as after masking, is hidden once.
    hidden: (id) => (revealed(id) === undefined ? current.seal(id) : id),
    revealed: (id) => revealed(id) ?? id,
    hide({ tool_calls: calls }) {
      if (!Array.isArray(calls)) return
      for (const call of calls) {
        if (!isObject(call) || typeof call.id !== 'string' || call.id === '') continue
        // A chunk that is written twice, as after masking, is hidden once.
        if (revealed(call.id) === undefined) call.id = current.seal(call.id)
      }
    },
    reveal(messages) {
      for (const message of messages) {
        const { tool_calls: calls, tool_call_id: answered } = message
        if (answered !== undefined) restore(message, 'tool_call_id')
        if (!Array.isArray(calls)) continue
        for (const call of calls) if (isObject(call)) restore(call, 'id')
      }
    },
  }
}

interface IdCipher {
  seal(id: string): string
  /** Undefined for an id that `seal` did not make. */
  open(id: string): string | undefined
}

/**
 * Deterministic, so that one id has one public form in all chunks of a stream and all nodes: the tag authenticates the
 * plain bytes and is the nonce of the encryption (as in SIV). With 48 bits, a foreign id of the same form is taken for
 * ours once in 10^14.
 *
 * A request of 2 MB has 16,000 ids, so no object of OpenSSL is made for an id: that took ten times as long.
 */
function createIdCipher(sealingKey: Buffer): IdCipher {
  const tagKey = deriveKey(sealingKey, 'tags of tool-call ids')
  const apply = createCounterMode(deriveKey(sealingKey, 'tool-call ids'))
  const mac = createMac(tagKey)
  const tagOf = (plain: Buffer): Buffer => mac(plain).subarray(0, TAG_BYTES)
  return {
    seal(id) {
      if (Buffer.byteLength(id) > ID_BYTES_MAX || !id.isWellFormed() || id.includes('\0')) return id
      const plain = pack(id)
      const tag = tagOf(plain)
      return PUBLIC_PREFIX + Buffer.concat([tag, apply(tag, plain)]).toString('base64url')
    },
    open(id) {
      const bytes = Buffer.from(id.slice(PUBLIC_PREFIX.length), 'base64url')
      const tag = bytes.subarray(0, TAG_BYTES)
      const plain = apply(tag, bytes.subarray(TAG_BYTES))
      return timingSafeEqual(tag, tagOf(plain)) ? unpack(plain) : undefined
    },
  }
}

const AES_BLOCK_BYTES = 16

/** AES-256-CTR, whose counter begins with the nonce and zeros. The cipher of single blocks has no state between calls. */
function createCounterMode(key: Buffer): (nonce: Buffer, bytes: Buffer) => Buffer {
  const blocks = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  return (nonce, bytes) => {
    const count = Math.ceil(bytes.length / AES_BLOCK_BYTES)
    const counters = Buffer.alloc(count * AES_BLOCK_BYTES)
    for (let block = 0; block < count; block++) {
      const start = block * AES_BLOCK_BYTES
      nonce.copy(counters, start)
      counters.writeUInt32BE(block, start + AES_BLOCK_BYTES - 4)
    }
    const stream = blocks.update(counters)
    for (let index = 0; index < bytes.length; index++)
      counters[index] = (bytes[index] as number) ^ (stream[index] as number)
    return counters.subarray(0, bytes.length)
  }
}

const SHA256_BLOCK_BYTES = 64

/** HMAC-SHA256 (RFC 2104) with a key of at most a block. */
function createMac(key: Buffer): (bytes: Buffer) => Buffer {
  const padded = Buffer.alloc(SHA256_BLOCK_BYTES)
  key.copy(padded)
  const inner = padded.map((byte) => byte ^ 0x36)
  const outer = padded.map((byte) => byte ^ 0x5c)
  return (bytes) =>
    hash(
      'sha256',
      Buffer.concat([outer, hash('sha256', Buffer.concat([inner, bytes]), 'buffer')]),
      'buffer',
    )
}

/** Padded, so that the length of a public id says nothing of the usual shapes. */
function pack(id: string): Buffer {
  for (const [shape, [prefix, radix]] of SHAPES.entries()) {
    const digits = id.slice(prefix.length)
    const isShape = radix === 16 ? /^[0-9a-f]{1,36}$/ : /^[0-9A-Za-z]{1,25}$/
    if (!id.startsWith(prefix) || !isShape.test(digits)) continue
    const number = numberOf(digits, radix)
    if (number.length > PLAIN_BYTES - 1) continue
    const plain = Buffer.alloc(PLAIN_BYTES)
    plain[0] = shape
    number.copy(plain, PLAIN_BYTES - number.length)
    return plain
  }
  return Buffer.concat(
    [Buffer.from([RAW]), Buffer.from(id)],
    Math.max(PLAIN_BYTES, Buffer.byteLength(id) + 1),
  )
}

function unpack(plain: Buffer): string {
  if (plain[0] === RAW) return plain.subarray(1).toString().replace(/\0+$/, '')
  const [prefix, radix] = SHAPES[plain[0] as number] as (typeof SHAPES)[number]
  return prefix + digitsOf(plain.subarray(1), radix)
}

/** Returns the digits as a number with a leading 1, so that leading zeros stay. */
function numberOf(digits: string, radix: number): Buffer {
  let number = 1n
  for (const digit of digits) number = number * BigInt(radix) + BigInt(DIGITS.indexOf(digit))
  const hex = number.toString(16)
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
}

function digitsOf(bytes: Buffer, radix: number): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let digits = ''
  for (; number > 1n; number /= BigInt(radix))
    digits = DIGITS[Number(number % BigInt(radix))] + digits
  return digits
}

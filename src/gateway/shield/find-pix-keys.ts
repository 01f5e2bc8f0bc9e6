import { isAsciiAlphanumeric } from './characters.ts'
import type { Found } from './found.ts'
import type { FindOptions } from '../../customers/shield-setting.ts'

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/iy
const UUID_LENGTH = 36
const BARE_UUID = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi
const BARE_UUID_LENGTH = 32
/** The key within a static BR code ("Pix copia e cola"): field 01, its length, the key. */
const BR_CODE_KEY = /br\.gov\.bcb\.pix01(\d\d)/gi
const MAY_MENTION_PIX = /pix|chave aleat|evp/i
const MENTIONS_PIX = /(?<![a-z])(?:pix(?![a-z])|chave aleat(?:[oó]|o\u0301)ria|evp(?![a-z]))/i
const BEFORE = 120
const AFTER = 48

export interface PixKeys {
  readonly inBrCodes: readonly Found[]
  readonly uuids: readonly Found[]
  /** UUIDs that are no Pix keys. Their digits are no documents. */
  readonly ids: readonly { readonly start: number; readonly end: number }[]
}

/**
 * Finds random Pix keys and the keys within BR codes, in folded text. Keys that are a CPF, a CNPJ, an address or a
 * phone number are found as such.
 */
export function findPixKeys(text: string, options: FindOptions): PixKeys {
  const mayMentionPix = MAY_MENTION_PIX.test(text)
  const uuids: Found[] = []
  const ids: { start: number; end: number }[] = []
  for (const start of findUuids(text)) {
    const end = start + UUID_LENGTH
    if (options.uuids === 'always' || (mayMentionPix && isNearPix(text, start, end)))
      uuids.push(keyAt(text, start, end))
    else ids.push({ start, end })
  }
  if (!mayMentionPix) return { inBrCodes: [], uuids, ids }
  for (const { index: start } of text.matchAll(BARE_UUID)) {
    const end = start + BARE_UUID_LENGTH
    if (isNearPix(text, start, end)) uuids.push(keyAt(text, start, end))
  }
  uuids.sort((one, other) => one.start - other.start)
  return { inBrCodes: findBrCodeKeys(text), uuids, ids }
}

function keyAt(text: string, start: number, end: number): Found {
  const canonical = text.slice(start, end).replaceAll('-', '').toLowerCase()
  return { kind: 'pix_key', start, end, canonical }
}

function isNearPix(text: string, start: number, end: number): boolean {
  return (
    MENTIONS_PIX.test(text.slice(Math.max(0, start - BEFORE), start)) ||
    MENTIONS_PIX.test(text.slice(end, end + AFTER))
  )
}

/** Hops from dash to dash: a UUID has them at 8, 13, 18 and 23. */
function findUuids(text: string): number[] {
  const starts: number[] = []
  for (let dash = text.indexOf('-', 8); dash !== -1; dash = text.indexOf('-', dash + 1)) {
    if (text.charCodeAt(dash + 5) !== 45 || text.charCodeAt(dash + 10) !== 45) continue
    const start = dash - 8
    UUID.lastIndex = start
    if (!UUID.test(text)) continue
    if (isAsciiAlphanumeric(text.charCodeAt(start - 1))) continue
    if (isAsciiAlphanumeric(text.charCodeAt(start + UUID_LENGTH))) continue
    starts.push(start)
    dash = start + UUID_LENGTH - 1
  }
  return starts
}

function findBrCodeKeys(text: string): Found[] {
  const found: Found[] = []
  for (const { 0: opening, 1: length, index } of text.matchAll(BR_CODE_KEY)) {
    const start = index + opening.length
    const end = start + Number(length)
    // The fields that follow a key are all present in a whole code.
    const isWhole = end > start && end < text.length
    if (isWhole && start >= (found.at(-1)?.end ?? 0)) found.push(keyAt(text, start, end))
  }
  return found
}

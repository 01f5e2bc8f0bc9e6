import { findEmails } from './find-emails.ts'
import { findNumbers } from './find-numbers.ts'
import { foldText, type FoldedText } from './fold-text.ts'
import type { Found } from './found.ts'
import type { FindOptions } from '../../customers/shield-setting.ts'
import { placeInJson } from './json-place.ts'
import { isAsciiAlphanumeric } from './characters.ts'

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

interface PixKeys {
  readonly inBrCodes: readonly Found[]
  readonly uuids: readonly Found[]
  /** UUIDs that are no Pix keys. Their digits are no documents. */
  readonly ids: readonly { readonly start: number; readonly end: number }[]
}

/**
 * Finds random Pix keys and the keys within BR codes, in folded text. Keys that are a CPF, a CNPJ, an address or a
 * phone number are found as such.
 */
function findPixKeys(text: string, options: FindOptions): PixKeys {
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

/**
 * Finds CPF, CNPJ, e-mail addresses, Brazilian phone numbers, cards and Pix keys: in order, without overlaps. The
 * time is linear in the length of the text. docs/shield.md lists the spellings.
 */
export function findPersonalData(source: string, options: FindOptions): readonly Found[] {
  const steps = findInSteps(source, options)
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Finds what `findPersonalData` finds, with pauses, so that other work can be done meanwhile. */
export function* findInSteps(
  source: string,
  options: FindOptions,
): Generator<void, readonly Found[]> {
  const folded = yield* foldText(source)
  const { text } = folded
  yield
  const pix = findPixKeys(text, options)
  const emails = yield* findEmails(text)
  const addresses = merge(merge(pix.inBrCodes, emails), pix.uuids)
  yield
  const numbers = yield* findNumbers(text, merge(addresses, pix.ids))
  const found = merge(addresses, numbers)
  const placed = text === source ? found : found.map((each) => unfold(each, folded))
  return yield* placeInJson(source, placed)
}

function unfold(found: Found, folded: FoldedText): Found {
  return { ...found, start: folded.sourceOf(found.start), end: folded.sourceOf(found.end) }
}

/** Both lists in order; what overlaps an entry of the first list is left out of the second. */
function merge<First extends Range, Second extends Range>(
  first: readonly First[],
  second: readonly Second[],
): (First | Second)[] {
  if (second.length === 0) return [...first]
  const merged: (First | Second)[] = []
  let next = 0
  let free = 0
  for (const each of second) {
    let rival = first[next]
    while (rival !== undefined && rival.end <= each.start) {
      merged.push(rival)
      free = rival.end
      next += 1
      rival = first[next]
    }
    if (each.start < free || (rival !== undefined && rival.start < each.end)) continue
    merged.push(each)
    free = each.end
  }
  return [...merged, ...first.slice(next)]
}

interface Range {
  readonly start: number
  readonly end: number
}

import { isAsciiLetter, isDigit, isLatinLetter } from './characters.ts'
import type { Found } from './found.ts'

/** RFC 5321. */
const LOCAL_MAX = 64
const DOMAIN_MAX = 253
/** `logo@2x.png` is the name of an image. */
const SCALED_IMAGE = /^\dx\.(?:png|jpe?g|webp|gif|svg|avif|ico)(?![a-z0-9.-])/i
const SCALED_IMAGE_MAX = 8
/** With spaces beside the `@`, only these are taken for domains: ` @name.name` is also code. */
const PROVIDER =
  /^(?:gmail|hotmail|outlook|yahoo|ymail|live|msn|icloud|uol|bol|terra|ig|globo|globomail|oi|r7|proton|protonmail)\.com?(?:\.br)?$/i

/** So many addresses take less than a millisecond. */
const STEP_ADDRESSES = 512

/**
 * Finds `local@domain` with a top-level domain, in folded text. Each character is visited at most once to the left
 * and once to the right of an `@`, so the time is linear. Pauses now and then.
 */
export function* findEmails(text: string): Generator<void, Found[]> {
  const found: Found[] = []
  let free = 0
  let signs = 0
  for (let at = text.indexOf('@'); at !== -1; at = text.indexOf('@', at + 1)) {
    signs += 1
    if (signs % STEP_ADDRESSES === 0) yield
    const domain = text.charCodeAt(at + 1) === 32 ? at + 2 : at + 1
    const localEnd = text.charCodeAt(at - 1) === 32 ? at - 1 : at
    const start = findLocalStart(text, localEnd, free)
    if (start === localEnd) continue
    const end = findDomainEnd(text, domain)
    if (end === domain || isScaledImage(text, domain)) continue
    const isSpaced = domain > at + 1 || localEnd < at
    if (isSpaced && !PROVIDER.test(text.slice(domain, end))) continue
    // git@github.com:owner/name is the address of a repository.
    if (text.slice(start, at) === 'git' && text[end] === ':') continue
    const canonical = text.slice(start, end).normalize('NFC').toLowerCase()
    found.push({ kind: 'email', start, end, canonical })
    free = end
  }
  return found
}

function isScaledImage(text: string, start: number): boolean {
  return SCALED_IMAGE.test(text.slice(start, start + SCALED_IMAGE_MAX + 1))
}

function findLocalStart(text: string, at: number, free: number): number {
  const limit = Math.max(free, at - LOCAL_MAX)
  let start = at
  while (start > limit && isLocal(text.charCodeAt(start - 1))) start -= 1
  // An apostrophe, a dot or a dash before the name belongs to the sentence.
  while (start < at && !isNameStart(text.charCodeAt(start))) start += 1
  return start
}

/** Letters, digits, and `. _ + - '`; the other characters of RFC 5322 occur around addresses more than in them. */
function isLocal(code: number): boolean {
  if (isNameStart(code)) return true
  return code === 46 || code === 43 || code === 45 || code === 39
}

function isNameStart(code: number): boolean {
  return isLatinLetter(code) || isDigit(code) || code === 95
}

/** The end of the longest domain with at least two labels whose last one has letters; `start` if there is none. */
function findDomainEnd(text: string, start: number): number {
  const limit = start + DOMAIN_MAX
  let dot = -1
  let best = start
  let index = start
  let isWord = true
  for (; index < limit; index += 1) {
    const code = text.charCodeAt(index)
    if (code === 46) {
      if (index === start || dot === index - 1) break
      if (isTopLevel(text, dot, index, isWord)) best = index
      dot = index
      isWord = true
    } else if (isDigit(code) || code === 45) isWord = false
    else if (!isLatinLetter(code)) break
  }
  return isTopLevel(text, dot, index, isWord) ? index : endWithLetters(text, dot, index, best)
}

/** `dot` is the dot before the label that ends at `end`. */
function isTopLevel(text: string, dot: number, end: number, isWord: boolean): boolean {
  if (dot === -1 || end - dot < 3) return false
  return isWord || text.slice(dot + 1, dot + 5).toLowerCase() === 'xn--'
}

/** Cuts `com-` to `com`, where a dash or a digit of the sentence follows the domain. */
function endWithLetters(text: string, dot: number, index: number, best: number): number {
  if (dot === -1 || dot < best) return best
  let end = dot + 1
  while (end < index && isLatinLetter(text.charCodeAt(end))) end += 1
  return end - dot >= 3 && !isAsciiLetter(text.charCodeAt(end)) ? end : best
}

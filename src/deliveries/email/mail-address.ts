/** Addresses for mail envelopes: no character may end a header or begin a second recipient. */

export interface MailAddress {
  readonly name: string
  readonly address: string
}

/** Limit of a whole address (RFC 5321, 4.5.3.1.3). */
const LENGTH_MAX = 254
const PART = String.raw`[^\s@<>()[\],;:"\\\p{Cc}\p{Cf}]+`
const ADDRESS = new RegExp(`^${PART}@${PART}$`, 'u')

export function isMailAddress(text: string): boolean {
  return text.length <= LENGTH_MAX && ADDRESS.test(text)
}

/** Reads `Catraca <contas@example.com>`, or the address alone; undefined for anything else. */
export function readMailAddress(text: string): MailAddress | undefined {
  const match = /^\s*(?:([^<>\p{Cc}]*?)\s*<([^<>]+)>|([^<>]+?))\s*$/u.exec(text)
  if (!match) return undefined
  const address = match[2] ?? match[3] ?? ''
  if (!isMailAddress(address)) return undefined
  return { name: (match[1] ?? '').replace(/^"(.*)"$/, '$1'), address }
}

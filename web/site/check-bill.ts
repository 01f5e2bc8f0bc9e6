/**
 * Checks a public bill as docs/public-bills.md describes it, with nothing but the bill and the published heads. The
 * arithmetic is written out here: it checks the server's.
 */

export interface Bill {
  readonly charges: readonly BillCharge[]
  readonly days: readonly BillDay[]
}

interface BillCharge {
  /** JSON; the tree covers its bytes. */
  readonly text: string
  readonly proof: {
    readonly seal: number
    readonly path: readonly { readonly side: 'left' | 'right'; readonly hash: string }[]
    readonly head: string
  } | null
}

interface BillDay {
  readonly day: string
  readonly before: string
  readonly seals: readonly {
    readonly number: number
    readonly from: string
    readonly to: string
    readonly root: string
  }[]
  readonly head: string
}

interface Amounts {
  readonly settled_at: string
  readonly cost_upstream_pico_usd: string
  readonly fx_rate_e4: number
  readonly markup_e4: number
  readonly cost_billed_nano_brl: string
}

/**
 * `waits`: the day of the charge is not over, so the chain does not cover it yet. `unproved`: it is over, and the server
 * has not made the proof yet.
 */
export type Finding =
  | 'proved'
  | 'waits'
  | 'unproved'
  | 'wrong_amount'
  | 'not_in_seal'
  | 'broken_chain'
  | 'other_head'

/** One finding for each charge. `heads`: the published head of each day. */
export function checkBill(
  { charges, days }: Bill,
  heads: ReadonlyMap<string, string>,
): Promise<Finding[]> {
  return Promise.all(charges.map((charge) => checkCharge(charge, days, heads)))
}

async function checkCharge(
  { text, proof }: BillCharge,
  days: readonly BillDay[],
  heads: ReadonlyMap<string, string>,
): Promise<Finding> {
  const amounts = JSON.parse(text) as Amounts
  if (!isAsCharged(amounts)) return 'wrong_amount'
  const day = days.find((each) => each.day === amounts.settled_at.slice(0, 10))
  if (!proof) return day ? 'unproved' : 'waits'
  const seal = day?.seals.find(({ number }) => number === proof.seal)
  let node = await sha256(0, utf8(text))
  for (const { side, hash } of proof.path)
    node = side === 'left' ? await sha256(1, bytes(hash), node) : await sha256(1, node, bytes(hash))
  if (!day || !seal || hex(node) !== seal.root) return 'not_in_seal'
  let head: Uint8Array = bytes(day.before)
  for (const { number, from, to, root } of day.seals)
    head = await sha256(2, head, bytes(root), utf8(`${number}|${from}|${to}`))
  if (hex(head) !== day.head) return 'broken_chain'
  return heads.get(day.day) === day.head && proof.head === day.head ? 'proved' : 'other_head'
}

/** pico-USD x (rate x 10^4) x (markup x 10^4) over this is nano-BRL. */
const CHARGE_DIVISOR = 10n ** 11n

/** Rounded half up. A reversal is the exact negative of its charge, rounding included. */
function isAsCharged(amounts: Amounts): boolean {
  const cost = BigInt(amounts.cost_upstream_pico_usd)
  const product = cost * BigInt(amounts.fx_rate_e4) * BigInt(amounts.markup_e4)
  const sign = cost < 0n ? -1n : 1n
  const billed = sign * ((sign * product + CHARGE_DIVISOR / 2n) / CHARGE_DIVISOR)
  return billed === BigInt(amounts.cost_billed_nano_brl)
}

async function sha256(kind: number, ...parts: readonly Uint8Array[]): Promise<Uint8Array> {
  const length = parts.reduce((sum, part) => sum + part.length, 1)
  const all = new Uint8Array(length)
  all[0] = kind
  let at = 1
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all))
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
}

function hex(digest: Uint8Array): string {
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

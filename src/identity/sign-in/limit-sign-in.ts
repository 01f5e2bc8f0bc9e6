import type { Database } from '../../platform/db/open.ts'
import { clientNetworks } from '../../platform/lib/client-networks.ts'
import { mailboxOf } from '../../platform/lib/mailbox.ts'
import { giveBackAttempts, limitAttempts, type Limit } from '../../platform/admission/attempts.ts'

/** A wrong password, a wrong code of the second factor, or a mail that anybody may request for an address. */
export type SignInAttempt = 'password' | 'code' | 'mail'

export interface SignInClient {
  readonly email: string
  readonly ip: string
  /** The device on which this e-mail was signed in before, or its login session. */
  readonly knownAs: string | undefined
}

export type SignInLimited =
  | { readonly kind: 'refused'; readonly retryAfter: number }
  /** `giveBack` takes the attempt out of the counts: a right password is none. */
  | { readonly kind: 'allowed'; giveBack(): Promise<void> }

type Limits = Readonly<
  Record<'device' | 'nearAndEmail' | 'wideAndEmail' | 'near' | 'wide' | 'email', Limit>
> & { readonly devices?: Limit }

/**
 * `email` counts strangers of all networks together. One network can use up only its own share of it: an owner who
 * signs in from elsewhere, or from a known device, is not locked out by it.
 *
 * Of the codes of six digits three count at once, so each try succeeds with a chance of 3 in a million. `email` and
 * `devices`, of all known devices together, therefore have no more than 60 wrong ones in a day: a chance of 1 in 5,500 a
 * day for somebody who has the password, and as much for somebody who also has the mailbox or a known device.
 */
const LIMITS: Readonly<Record<SignInAttempt, Limits>> = {
  password: {
    device: { max: 10, seconds: 600 },
    nearAndEmail: { max: 10, seconds: 600 },
    wideAndEmail: { max: 20, seconds: 3_600 },
    near: { max: 50, seconds: 600 },
    wide: { max: 200, seconds: 600 },
    email: { max: 100, seconds: 3_600 },
  },
  code: {
    device: { max: 20, seconds: 86_400 },
    devices: { max: 60, seconds: 86_400 },
    nearAndEmail: { max: 10, seconds: 86_400 },
    wideAndEmail: { max: 20, seconds: 86_400 },
    near: { max: 50, seconds: 600 },
    wide: { max: 200, seconds: 600 },
    email: { max: 60, seconds: 86_400 },
  },
  mail: {
    device: { max: 5, seconds: 3_600 },
    nearAndEmail: { max: 5, seconds: 3_600 },
    wideAndEmail: { max: 5, seconds: 3_600 },
    near: { max: 60, seconds: 3_600 },
    wide: { max: 200, seconds: 3_600 },
    email: { max: 15, seconds: 3_600 },
  },
}

/**
 * Counts an attempt before it is made, over all nodes: an attempt from a known device counts for the device, any
 * other for its networks.
 */
export async function limitSignIn(
  db: Database,
  attempt: SignInAttempt,
  client: SignInClient,
): Promise<SignInLimited> {
  const counted: string[] = []
  for (const { key, limit } of countsOf(attempt, client)) {
    // The narrowest first: an attempt that is refused by one network's count must not use up the count of all.
    const retryAfter = await limitAttempts(db, key, limit)
    if (retryAfter !== undefined) return { kind: 'refused', retryAfter }
    counted.push(key)
  }
  return { kind: 'allowed', giveBack: () => giveBackAttempts(db, counted) }
}

function countsOf(
  attempt: SignInAttempt,
  { email: given, ip, knownAs }: SignInClient,
): { key: string; limit: Limit }[] {
  const email = attempt === 'mail' ? mailboxOf(given) : given.toLowerCase()
  const limits = LIMITS[attempt]
  if (knownAs !== undefined)
    return [
      { key: `${attempt} ${email} on ${knownAs}`, limit: limits.device },
      ...(limits.devices
        ? [{ key: `${attempt} ${email} on known devices`, limit: limits.devices }]
        : []),
    ]
  const { near, wide } = clientNetworks(ip)
  return [
    { key: `${attempt} ${email} from ${near}`, limit: limits.nearAndEmail },
    { key: `${attempt} ${email} from ${wide}`, limit: limits.wideAndEmail },
    { key: `${attempt} from ${near}`, limit: limits.near },
    { key: `${attempt} from ${wide}`, limit: limits.wide },
    { key: `${attempt} ${email}`, limit: limits.email },
  ]
}

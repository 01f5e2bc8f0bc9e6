/**
 * Accounts of other services that people sign in with. better-auth does the protocol, with a `state` that its cookie and
 * its row must both have, once, and PKCE. What is decided here: whose address counts as proved, and what is stored.
 */
import type { BetterAuthOptions } from 'better-auth'
import type { Database } from '../../platform/db/open.ts'
import { isMailAddress } from '../../deliveries/email/mail-address.ts'

export const PROVIDERS = ['google', 'github', 'microsoft'] as const
export type Provider = (typeof PROVIDERS)[number]

export const PROVIDER_NAMES: Readonly<Record<Provider, string>> = {
  google: 'Google',
  github: 'GitHub',
  microsoft: 'Microsoft',
}

interface Client {
  readonly clientId: string
  readonly clientSecret: string
}

/** Those that the operator has registered this server with. */
export type ProviderClients = Readonly<Partial<Record<Provider, Client>>>

const NAME_MAX = 100

interface Profile {
  readonly name?: string | null
  readonly login?: string
  readonly email?: string | null
}

/**
 * Nothing of a profile is stored but the name: its picture is a third party's address. An address beyond ASCII is never
 * taken as verified: in lower case it may be another person's.
 */
function readProfile(profile: Profile, isVerified?: boolean) {
  const { name, login, email } = profile
  const shown = Array.from((name || login || '').replaceAll(/\p{Cc}/gu, ' ').trim())
  const isUsual = typeof email === 'string' && isMailAddress(email) && /^[\x21-\x7e]+$/.test(email)
  return {
    name: shown.slice(0, NAME_MAX).join(''),
    image: undefined,
    ...(isUsual && isVerified === undefined
      ? {}
      : { emailVerified: isUsual && isVerified === true }),
  }
}

interface GoogleProfile extends Profile {
  readonly email_verified?: unknown
  readonly hd?: unknown
}

/**
 * Google speaks for its own addresses and those of its Workspaces (`hd`). Any other one was its owner's on the day on
 * which they proved it (Google, "Verify the Google ID token on your server side").
 */
function isVerifiedByGoogle({ email, email_verified: isVerified, hd }: GoogleProfile): boolean {
  const isOfGoogle = /@gmail\.com$/i.test(email ?? '') || (typeof hd === 'string' && hd !== '')
  return isVerified === true && isOfGoogle
}

interface MicrosoftProfile extends Profile {
  readonly verified_primary_email?: unknown
  readonly verified_secondary_email?: unknown
}

/**
 * Any directory of a company may write any `email` into its tokens, and `email_verified` beside it. Only these two lists
 * are Microsoft's own.
 */
function isVerifiedByMicrosoft(profile: MicrosoftProfile): boolean {
  const lists: unknown[] = [profile.verified_primary_email, profile.verified_secondary_email]
  return lists.some((list) => Array.isArray(list) && list.includes(profile.email))
}

export function socialProviders(
  clients: ProviderClients,
): NonNullable<BetterAuthOptions['socialProviders']> {
  const { google, github, microsoft } = clients
  return {
    ...(google
      ? {
          google: {
            ...google,
            mapProfileToUser: (profile: GoogleProfile) =>
              readProfile(profile, isVerifiedByGoogle(profile)),
          },
        }
      : {}),
    // GitHub says so of each address itself.
    ...(github
      ? { github: { ...github, mapProfileToUser: (profile: Profile) => readProfile(profile) } }
      : {}),
    ...(microsoft
      ? {
          microsoft: {
            ...microsoft,
            // Without the right to read the user at Microsoft, which signing in does not need.
            disableDefaultScope: true,
            scope: ['openid', 'profile', 'email'],
            disableProfilePhoto: true,
            mapProfileToUser: (profile: MicrosoftProfile) =>
              readProfile(profile, isVerifiedByMicrosoft(profile)),
          },
        }
      : {}),
  }
}

/** The tokens of an account are never used again, so they are not stored. */
export const WITHOUT_TOKENS = {
  accessToken: undefined,
  refreshToken: undefined,
  idToken: undefined,
  accessTokenExpiresAt: undefined,
  refreshTokenExpiresAt: undefined,
  scope: undefined,
}

export interface LinkedAccount {
  readonly provider: Provider
  readonly createdAt: Date
}

/** Returns the user's accounts at providers, also at one that the server is no longer registered with. */
export async function listLinkedAccounts(db: Database, userId: string): Promise<LinkedAccount[]> {
  const rows = await db
    .selectFrom('sign_in_accounts')
    .select(['provider_id as provider', 'created_at as createdAt'])
    .where('user_id', '=', userId)
    .where('provider_id', 'in', PROVIDERS)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, provider: row.provider as Provider }))
}

/** Returns false if the user has no account at the provider. */
export async function deleteLinkedAccount(
  trx: Database,
  { userId, provider }: { readonly userId: string; readonly provider: Provider },
): Promise<boolean> {
  const deleted = await trx
    .deleteFrom('sign_in_accounts')
    .where('user_id', '=', userId)
    .where('provider_id', '=', provider)
    .executeTakeFirst()
  return deleted.numDeletedRows === 1n
}

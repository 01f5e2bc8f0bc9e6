/**
 * Accounts of other services that people sign in with. better-auth does the protocol, with a `state` that its cookie and
 * its row must both have, once, and PKCE. What is decided here: whose address counts as proved, and what is stored.
 */
import type { BetterAuthOptions } from 'better-auth'

export const PROVIDERS = ['google', 'github', 'microsoft'] as const
export type Provider = (typeof PROVIDERS)[number]

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
}

/** Nothing of a profile is stored but the name: its picture is a third party's address. */
function nameIn({ name, login }: Profile) {
  const shown = Array.from((name || login || '').trim()).slice(0, NAME_MAX)
  return { name: shown.join(''), image: undefined }
}

interface MicrosoftProfile extends Profile {
  readonly email?: string
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
    ...(google ? { google: { ...google, mapProfileToUser: nameIn } } : {}),
    ...(github ? { github: { ...github, mapProfileToUser: nameIn } } : {}),
    ...(microsoft
      ? {
          microsoft: {
            ...microsoft,
            // Without the right to read the user at Microsoft, which signing in does not need.
            disableDefaultScope: true,
            scope: ['openid', 'profile', 'email'],
            disableProfilePhoto: true,
            mapProfileToUser: (profile: MicrosoftProfile) => ({
              ...nameIn(profile),
              emailVerified: isVerifiedByMicrosoft(profile),
            }),
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

import { queryOptions } from '@tanstack/react-query'
import type { Provider } from '../../api/auth.ts'
import { ownAuthGet, ownAuthPost } from '../../api/auth-call.ts'

/** The answer of `src/http/sign-in/security-routes.ts`. */
export interface Security {
  readonly email: string
  readonly hasPassword: boolean
  readonly secondFactor: { readonly enabledAt: string | null; readonly backupCodesLeft: number }
  readonly passkeys: readonly Passkey[]
  readonly linkedAccounts: readonly LinkedAccount[]
  readonly sessions: readonly SignedIn[]
}

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: string
}

/** An account of the user at a provider, with which they sign in here. */
export interface LinkedAccount {
  readonly provider: Provider
  readonly createdAt: string
}

export interface SignedIn {
  readonly id: string
  readonly isThis: boolean
  readonly userAgent: string | null
  readonly ip: string | null
  readonly createdAt: string
}

/** The secret from which an authenticator app generates its codes. */
export interface FactorSecret {
  readonly secret: string
  readonly uri: string
  readonly qrPng: string
}

export const SECURITY = ['security'] as const

export const securityQuery = queryOptions({
  queryKey: SECURITY,
  queryFn: () => ownAuthGet<Security>('/security'),
})

export function beginFactor(): Promise<FactorSecret> {
  return ownAuthPost('/second-factor/begin')
}

export function enableFactor(code: string): Promise<{ backupCodes: string[] }> {
  return ownAuthPost('/second-factor/enable', { code })
}

export function disableFactor(): Promise<unknown> {
  return ownAuthPost('/second-factor/disable')
}

export function renewBackupCodes(): Promise<{ backupCodes: string[] }> {
  return ownAuthPost('/second-factor/backup-codes')
}

export function removePasskey(id: string): Promise<unknown> {
  return ownAuthPost('/passkeys/remove', { id })
}

export function unlinkProvider(provider: Provider): Promise<unknown> {
  return ownAuthPost('/providers/unlink', { provider })
}

export function endSession(id: string): Promise<unknown> {
  return ownAuthPost('/sessions/end', { id })
}

export function endOtherSessions(): Promise<{ ended: number }> {
  return ownAuthPost('/sessions/end-others')
}

export function changePassword(input: {
  currentPassword: string
  newPassword: string
}): Promise<unknown> {
  return ownAuthPost('/change-password', input)
}

export function prove(proof: { code: string } | { password: string }): Promise<unknown> {
  return ownAuthPost('/security/prove', proof)
}

import type { FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { limitSignIn, type SignInAttempt, type SignInLimited } from '../../sign-in/limit-sign-in.ts'
import type { Session } from '../../sign-in/sessions.ts'
import type { SignInDeps } from './sign-in-deps.ts'

export interface SignInCaller {
  readonly request: FastifyRequest
  readonly email: string
  /** Undefined if nobody is signed in. */
  readonly session?: Session | undefined
}

/** Counts the attempt of a request: by its login session, its known device, or its networks. */
export function limitCaller(
  { db, signIn }: SignInDeps,
  attempt: SignInAttempt,
  { request, email, session }: SignInCaller,
): Promise<SignInLimited> {
  const knownAs = session?.id ?? signIn.devices.deviceOf(request.headers.cookie, email)
  return limitSignIn(db, attempt, { email, ip: plainIp(request.ip), knownAs })
}

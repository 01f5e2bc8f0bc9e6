import type { FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import {
  limitSignIn,
  type SignInAttempt,
  type SignInClient,
  type SignInLimited,
} from '../../identity/sign-in/limit-sign-in.ts'
import type { FactorHolder } from '../../identity/sign-in/second-factor.ts'
import type { Session } from '../../identity/sign-in/sessions.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'db' | 'signIn'>

export interface SignInCaller {
  readonly request: FastifyRequest
  readonly email: string
  /** Undefined if nobody is signed in. */
  readonly session?: Session | undefined
}

/** Counts the attempt of a request: by its login session, its known device, or its networks. */
export function limitCaller(
  deps: Deps,
  attempt: SignInAttempt,
  caller: SignInCaller,
): Promise<SignInLimited> {
  return limitSignIn(deps.db, attempt, clientOf(deps, caller))
}

/** Who tries a code in a login session. One that waits for the code makes nobody known: the password starts it. */
export function factorHolder(
  deps: Deps,
  request: FastifyRequest,
  session: Session,
  { isWaiting }: { readonly isWaiting: boolean },
): FactorHolder {
  const { email, userId } = session
  const caller = { request, email, session: isWaiting ? undefined : session }
  return { ...clientOf(deps, caller), userId }
}

function clientOf({ signIn }: Deps, { request, email, session }: SignInCaller): SignInClient {
  const knownAs = session?.id ?? signIn.devices.deviceOf(request.headers.cookie, email)
  return { email, ip: plainIp(request.ip), knownAs }
}

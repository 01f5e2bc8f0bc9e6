import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../platform/lib/log.ts'
import type { TooManyRefusals } from '../../money/payments/card-attempts.ts'
import type { SignIn } from '../../identity/sign-in/create-sign-in.ts'
import type { Caller } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

export interface CardGuardDeps {
  readonly log: Log
  readonly signIn: Pick<SignIn, 'devices'>
}

/** Whom an attempt with a card counts for. A key has no browser. */
export function buyerOf(
  { signIn }: CardGuardDeps,
  caller: Caller,
  { headers }: FastifyRequest,
): { readonly remoteIp: string; readonly deviceId: string | undefined } {
  const deviceId =
    caller.keyId === undefined
      ? signIn.devices.allDevicesOf(headers.cookie, caller.email)[0]
      : undefined
  return { remoteIp: caller.ip, deviceId }
}

/** Refuses somebody who tests stolen cards, or an unlucky customer. */
export function tooManyRejectedCards(
  { log }: CardGuardDeps,
  reply: FastifyReply,
  { of, retryAfterSeconds }: TooManyRefusals,
): RestRefusal {
  if (of !== 'customer') log.error('card_testing_suspected', { of })
  reply.header('retry-after', retryAfterSeconds)
  return new RestRefusal(
    429,
    'too_many_rejected_cards',
    'tentativas demais com cartões: espere, ou pague por Pix',
  )
}

import type { Database } from '../platform/db/open.ts'
import { hasToppedUp } from './has-topped-up.ts'
import { mailboxOf } from '../platform/lib/mailbox.ts'
import { limitAttempts, type Limit } from '../platform/admission/attempts.ts'

const DAY = 86_400

/**
 * An invitation mails a stranger: the counts include revoked ones, and those of deleted accounts. `free` counts the
 * invitations of all inviters who never topped up: with many free accounts nobody uses up those of the others.
 */
const LIMITS: Readonly<Record<'team' | 'inviter' | 'recipient' | 'free', Limit>> = {
  team: { max: 100, seconds: DAY },
  inviter: { max: 100, seconds: DAY },
  recipient: { max: 5, seconds: DAY },
  free: { max: 5_000, seconds: DAY },
}

/**
 * Counts an invitation in the caller's transaction, so that one that is not sent counts for nothing. Returns undefined
 * within the limits, or else the seconds until the next one is allowed. Concurrent callers lock the counts in this
 * order.
 */
export async function limitInvitations(
  trx: Database,
  { teamId, invitedBy, email }: { teamId: string; invitedBy: string; email: string },
): Promise<number | undefined> {
  const counts: (readonly [string, Limit])[] = [
    [`invitation by team ${teamId}`, LIMITS.team],
    [`invitation by ${invitedBy}`, LIMITS.inviter],
    [`invitation to ${mailboxOf(email)}`, LIMITS.recipient],
    ...((await hasToppedUp(trx, invitedBy)) ? [] : ([['invitation', LIMITS.free]] as const)),
  ]
  for (const [key, limit] of counts) {
    const retryAfter = await limitAttempts(trx, key, limit)
    if (retryAfter !== undefined) return retryAfter
  }
  return undefined
}

/** A customer who lives on top-ups and asks for refunds, over HTTP and through whichever node answers. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { actOnPage, type Payer } from '../harness/payer.ts'
import type { Random } from './random.ts'

export interface Payments {
  readonly topUpIds: ReadonlySet<string>
  /** Returns when it is paid at the processor; the credit comes later. */
  topUp(random: Random): Promise<void>
  /** Of a part, or of everything that is left. */
  refund(random: Random): Promise<void>
}

const AMOUNT_BRL_MIN = 10
const AMOUNT_BRL_MAX = 40
const REFUND_BRL_MIN = 5
const ANSWER_MS_MAX = 10_000
const TRIES_MAX = 400
/**
 * A request that did not reach the processor, as of a node that was stopped in it, is asked about for an hour before the
 * top-up fails: after so many of these answers the customer gives this one up.
 */
const UNKNOWN_MAX = 20
/** Of a refund: there may be nothing to refund. */
const REFUSED = [400, 409]
/** A long world reaches the limit of top-ups in 24 hours: the customer goes on with the money that is left. */
const TOO_MANY = ['too_many_topups', 'too_many_withdrawals']
/** Withdrawals that an account may have in a day before no top-up is taken. */
const REFUNDS_MAX = 4

export function createPayments({ secret }: Payer, baseUrls: readonly string[]): Payments {
  const topUpIds = new Set<string>()
  let refunds = 0

  /**
   * The same key at each try and on each node: what was done without an answer is not done twice. Undefined if the
   * outcome stays unknown, or if there are too many top-ups.
   */
  async function ask<Answer>(
    path: string,
    body: object,
    random: Random,
  ): Promise<Answer | undefined> {
    const key = randomUUID()
    let last = ''
    let unknown = 0
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const answer = await fetch(`${random.pick(baseUrls)}${path}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MS_MAX),
      }).catch((error: Error) => void (last = error.message))
      const text = await answer?.text().catch(() => undefined)
      if (answer && text !== undefined) {
        if (answer.status === 201 || REFUSED.includes(answer.status)) {
          if (!text.includes('idempotency_key_in_use')) return JSON.parse(text) as Answer
        }
        if (answer.status === 429 && TOO_MANY.some((code) => text.includes(code))) return undefined
        last = `${answer.status} ${text}`
        if (text.includes('ainda não é conhecido')) unknown += 1
        if (unknown === UNKNOWN_MAX) return undefined
      }
      await sleep(500)
    }
    throw new Error(`${path} was never answered: ${last}`)
  }

  return {
    topUpIds,
    async topUp(random) {
      const amount = random.between(AMOUNT_BRL_MIN, AMOUNT_BRL_MAX)
      const made = await ask<{ id?: string; page_url: string }>('/topups', { amount }, random)
      // Nobody pays a top-up without a code.
      if (made === undefined) return
      if (made.id === undefined) throw new Error(`no top-up: ${JSON.stringify(made)}`)
      topUpIds.add(made.id)
      await actOnPage(made.page_url)
    },
    async refund(random) {
      if (refunds++ >= REFUNDS_MAX) return
      const amount = random.between(REFUND_BRL_MIN, AMOUNT_BRL_MIN)
      await ask('/me/refunds', random.next() < 0.5 ? { amount } : {}, random)
    },
  }
}

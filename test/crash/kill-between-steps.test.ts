// deep: processes that are killed
/**
 * kill -9 between any two steps that move money or report it: the other nodes finish the work, nothing is lost and
 * nothing happens twice.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { effort } from '../harness/effort.ts'
import { createTopUpAct } from './acts/create-top-up.ts'
import { deliverWebhooksAct } from './acts/deliver-webhooks.ts'
import { dispatchEventsAct } from './acts/dispatch-events.ts'
import { creditTopUpAct, returnTopUpAct } from './acts/handle-events.ts'
import { refundAct } from './acts/refund.ts'
import { repeatKeyAct, repeatTopUpAct } from './acts/repeat.ts'
import { sendMailsAct } from './acts/send-mails.ts'
import { takeEventAct } from './acts/take-event.ts'
import { killBetweenSteps, type Act } from './kill-between-steps.ts'
import { startWorld } from './world.ts'

/** Each step has three moments. The ordinary run kills at every 40th moment, beginning at a random one. */
const stride = effort({ ordinary: 40, full: 1 })
const offset = Math.floor(Math.random() * stride)

const METHODS = (['pix', 'boleto'] as const).slice(0, effort({ ordinary: 1, full: 2 }))
const timeout = effort({ ordinary: 300_000, full: 3_600_000 })

function holds<Prepared>(guarantee: string, act: Act<Prepared>): void {
  test(`killed between any two steps: ${guarantee}`, { timeout }, async (context) => {
    const world = await startWorld()
    try {
      const kills = await killBetweenSteps(world, act, { stride, offset })
      const { checks } = await auditMoney(world.db)
      assert.deepEqual(
        checks.filter(({ ok }) => !ok),
        [],
      )
      context.diagnostic(`${kills} kills`)
    } finally {
      await world.close()
    }
  })
}

for (const method of METHODS)
  holds(
    `a top-up by ${method} is made at most once, and credited as often as it is paid`,
    createTopUpAct(method),
  )
holds(
  'a top-up that is repeated with its Idempotency-Key is made once, and its answer is not lost',
  repeatTopUpAct,
)
holds(
  'a key that is repeated with its Idempotency-Key is made once, and its secret is not lost',
  repeatKeyAct,
)
holds('a reported payment is credited once', creditTopUpAct)
holds('a refund leaves the balance once, and goes back to the payer once', refundAct)
holds('money that went back to the payer is debited once', returnTopUpAct)
holds('an event of the processor is stored once, and sent again until it is stored', takeEventAct)
holds('each event becomes its mail and its webhooks once', dispatchEventsAct)
holds(
  'each mail is sent; a repetition has the same Message-ID, and none follows its record',
  sendMailsAct,
)
holds(
  'each message is delivered; a repetition has the same id, and none follows its record',
  deliverWebhooksAct,
)

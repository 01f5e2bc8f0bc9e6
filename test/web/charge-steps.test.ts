/** The usage page recomputes exactly what the ledger charged. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { chargeFor, decimalBrl, decimalE4, decimalUsd } from '../../src/platform/lib/money.ts'
import { chargeSteps } from '../../web/src/pages/usage/charge-steps.ts'
import { amount } from '../../web/src/pages/usage/charge-words.ts'

test('a charge of the ledger is recomputed to the last digit, and a charge that is off by a nano-real is noticed', () => {
  fc.assert(
    fc.property(
      // Up to 100 USD, which has as many digits as a double can represent.
      fc.bigInt({ min: 0n, max: 10n ** 14n }),
      fc.bigInt({ min: 1n, max: 99_9999n }),
      fc.bigInt({ min: 1_0000n, max: 9_9999n }),
      (cost, fxRateE4, markupE4) => {
        const billed = chargeFor(cost, { fxRateE4, markupE4 })
        // A charge of millions of reais has more digits than a double.
        fc.pre(billed < 10n ** 14n)
        const numbers = {
          cost_upstream_usd: Number(decimalUsd(cost)),
          fx_rate: Number(decimalE4(fxRateE4)),
          markup_multiplier: Number(decimalE4(markupE4)),
        }
        const charged = (nano: bigint) =>
          chargeSteps({ ...numbers, cost_billed_brl: Number(decimalBrl(nano)) })
        assert.equal(charged(billed).isAsCharged, true)
        assert.equal(charged(billed + 1n).isAsCharged, false)
      },
    ),
  )
})

test('amounts are formatted with all their digits, in Brazilian notation', () => {
  const steps = chargeSteps({
    cost_upstream_usd: 4.5e-7,
    fx_rate: 5.3127,
    markup_multiplier: 1.25,
    cost_billed_brl: 1234.000002988,
  })
  assert.deepEqual(steps, {
    costUsd: '0,00000045',
    rate: '5,3127',
    markup: '1,25',
    costBrl: '0,000002390715',
    billedBrl: '1.234,000002988',
    isAsCharged: false,
  })
})

test('a reversal is the negative of its charge and has a minus sign', () => {
  const numbers = { fx_rate: 5.3127, markup_multiplier: 1.25 }
  const charge = { ...numbers, cost_upstream_usd: 4.5e-7, cost_billed_brl: 0.000002988 }
  const reversal = {
    ...numbers,
    cost_upstream_usd: -charge.cost_upstream_usd,
    cost_billed_brl: -charge.cost_billed_brl,
  }
  assert.equal(chargeSteps(charge).isAsCharged, true)
  assert.equal(chargeSteps(reversal).isAsCharged, true)
  assert.equal(amount(-12.5), '\u2212R$\u00a012,50')
})

/** The calculator of the landing page: how it reads invoices, and that its sums are those of a charge. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareCosts } from '../../web/site/compare-costs.ts'
import type { PricedModel } from '../../web/site/calculator-prices.ts'
import { readInvoice } from '../../web/site/read-invoice.ts'
import { readAmount, readCount } from '../../web/site/read-number.ts'

const USD = 1_000_000_000_000n
const priced = (id: string, input: bigint): PricedModel => ({
  id,
  name: id.toUpperCase(),
  markupE4: 12_500n,
  input,
  cached: input / 2n,
  output: input * 4n,
})
const MINI = priced('gpt-4o-mini', 150_000n)
const LARGE = priced('gpt-4o', 2_500_000n)
const MODELS = [LARGE, MINI]

function read(text: string) {
  const { lines, unknown } = readInvoice(text, MODELS, 50_000n)
  return { lines: lines.map(({ model, cost }) => [model?.id, cost]), unknown }
}

test('amounts are read as Brazilians, Americans and exports write them', () => {
  const cases: [string, string][] = [
    ['38,20', '38.2'],
    ['38.20', '38.2'],
    ['1.234,56', '1234.56'],
    ['1,234.56', '1234.56'],
    ['1,234', '1234'],
    ['1.234.567', '1234567'],
    ['0.0042', '0.0042'],
    ['52', '52'],
  ]
  for (const [text, value] of cases)
    assert.equal(readAmount(text), BigInt(Math.round(Number(value) * 1e6)) * 1_000_000n, text)
  for (const text of ['', 'x', '-1', '1e9', '1'.repeat(40)])
    assert.equal(readAmount(text), undefined)
})

test('counts are read with separators and words', () => {
  for (const text of ['1200000', '1.200.000', '1,200,000'])
    assert.equal(readCount(text), 1_200_000n, text)
  assert.equal(readCount('1,2', 'mi'), 1_200_000n)
  assert.equal(readCount('300', 'mil'), 300_000n)
  assert.equal(readCount('1.234'), 1_234n)
})

test('a line counts by the dollars that were billed, or else by its tokens at the list price', () => {
  assert.deepEqual(read('gpt-4o US$ 38,20').lines, [['gpt-4o', (USD * 3820n) / 100n]])
  assert.deepEqual(read('GPT-4o-mini, 1.000.000 tokens de entrada, 500.000 de saída').lines, [
    ['gpt-4o-mini', 150_000n * 1_000_000n + 600_000n * 500_000n],
  ])
  // The price of a unit comes before the amount.
  assert.deepEqual(read('gpt-4o input 1,234 tokens $2.50 / 1M $3.09').lines, [
    ['gpt-4o', (USD * 309n) / 100n],
  ])
})

test('reais are turned into dollars by the rate, and a bare total is in dollars', () => {
  for (const text of ['R$ 300', 'R$300,00', 'Total: R$ 300', '300 reais', 'BRL 300.00'])
    assert.deepEqual(read(text).lines, [[undefined, 60n * USD]], text)
  assert.deepEqual(read('gpt-4o R$ 50 (US$ 10)').lines, [['gpt-4o', 10n * USD]])
  for (const text of ['120', '120,00', '120.00'])
    assert.deepEqual(read(text).lines, [[undefined, 120n * USD]], text)
})

test('a version is its model, and a name that only begins like one is not', () => {
  assert.deepEqual(read('gpt-4o-2024-08-06 $1.00').lines, [['gpt-4o', USD]])
  assert.deepEqual(read('gpt-4o-audio $1.00').lines, [[undefined, USD]])
  assert.deepEqual(read('my-gpt-4o $1.00').lines, [[undefined, USD]])
  assert.deepEqual(read('o1-pro, 5000 tokens input').unknown, ['o1-pro, 5000 tokens input'])
})

test('a total counts only without lines, and taxes never do', () => {
  assert.deepEqual(read('gpt-4o $3.00\nTax $0.30\nTotal $3.30').lines, [['gpt-4o', 3n * USD]])
  assert.deepEqual(read('Subtotal $50.00\nTax $5.00\nAmount due $55.00').lines, [
    [undefined, 55n * USD],
  ])
})

test('an exported table of usage or of costs is summed by model', () => {
  const usage = `start_time,model,input_tokens,output_tokens,input_cached_tokens
1,gpt-4o-2024-08-06,1000,100,400
2,"gpt-4o-2024-08-06",1000,100,0
2,embedding-x,5,0,0`
  assert.deepEqual(read(usage), {
    lines: [['gpt-4o', 1_600n * LARGE.input + 400n * LARGE.cached + 200n * LARGE.output]],
    unknown: ['embedding-x'],
  })
  const costs = `amount_value;line_item\n1.5;"gpt-4o-mini-2024-07-18, input"\n0.5;gpt-4o-mini-2024-07-18`
  assert.deepEqual(read(costs).lines, [['gpt-4o-mini', 2n * USD]])
})

test('anything else is no invoice, and no text breaks the reader', () => {
  for (const text of [
    '',
    'bom dia',
    ',',
    '"',
    '\t\n\t',
    'model,\n',
    '$',
    'US$ ,',
    '\u0000',
    '$'.repeat(9_999),
  ])
    assert.deepEqual(read(text).lines, [], JSON.stringify(text.slice(0, 20)))
})

test('the sum is that of a charge: dollars, times the rate, times the markup of each line', () => {
  const invoice = readInvoice('gpt-4o US$ 10\nTotal de outra coisa US$ 2', MODELS, 52_000n)
  const terms = { iofE2: 350n, spreadE2: 400n }
  const { cost, charge, card } = compareCosts(
    invoice,
    { rateE4: 52_000n, models: MODELS },
    MINI,
    terms,
  )
  assert.equal(cost, 10n * USD)
  assert.equal(charge, 65_000_000_000n)
  // 52 reais, times 1.035, times 1.04.
  assert.equal(card, 55_972_800_000n)
})

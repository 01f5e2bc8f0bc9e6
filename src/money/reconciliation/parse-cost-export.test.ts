import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { decimalUsd } from '../../platform/lib/money.ts'
import { parseCostExport } from './parse-cost-export.ts'

function costsIn(text: string): [day: string, model: string, usd: string][] {
  const parsed = parseCostExport(text)
  assert.ok(parsed.kind === 'costs', parsed.kind === 'fault' ? parsed.detail : '')
  return parsed.costs.map(({ day, model, costPicoUsd }) => [day, model, decimalUsd(costPicoUsd)])
}

test('the generic format has days and costs, with or without models', () => {
  assert.deepEqual(costsIn('day,cost_usd\n2026-10-01,12.5\n2026-10-02,0\n'), [
    ['2026-10-01', '', '12.5'],
    ['2026-10-02', '', '0'],
  ])
  assert.deepEqual(
    costsIn('\ufeffDay;Model;Cost_USD\r\n2026-10-01;"gpt;5";1\r\n2026-10-01;"gpt;5";-0.25\r\n\r\n'),
    [['2026-10-01', 'gpt;5', '0.75']],
  )
})

test("OpenAI's export is read, with days without usage, line items of a model and other columns", () => {
  const head =
    'start_time,end_time,start_time_iso,end_time_iso,amount_value,amount_currency,quantity,line_item,project_name\n'
  const text =
    head +
    '1790467200,1790553600,2026-09-27T00:00:00+00:00,2026-09-28T00:00:00+00:00,,,,,\n' +
    '1790553600,1790640000,2026-09-28T00:00:00,2026-09-29T00:00:00,0.003835980000000000000000000000,usd,,,"A, b"\n' +
    '1790553600,1790640000,2026-09-28T00:00:00,2026-09-29T00:00:00,0.5,usd,1000,"gpt-5-nano, input_tokens",A\n' +
    '1790553600,1790640000,2026-09-28T00:00:00,2026-09-29T00:00:00,4.5e-07,usd,1,"gpt-5-nano, output_tokens",A\n'
  assert.deepEqual(costsIn(text), [
    ['2026-09-27', '', '0'],
    ['2026-09-28', '', '0.00383598'],
    ['2026-09-28', 'gpt-5-nano', '0.50000045'],
  ])
  assert.deepEqual(costsIn('start_time,amount_value,amount_currency\n1790553600,1,USD\n'), [
    ['2026-09-28', '', '1'],
  ])
})

test("Anthropic's export is read: its lines of one model and day are added up", () => {
  const text =
    'usage_date_utc,model,workspace,token_type,cost_usd,list_price_usd\n' +
    '2026-08-04,Claude Haiku 4.5,Default,input_no_cache,0.05,9\n' +
    '2026-08-04,Claude Haiku 4.5,Default,output,0.02,9\n'
  assert.deepEqual(costsIn(text), [['2026-08-04', 'Claude Haiku 4.5', '0.07']])
})

test('amounts below a pico-dollar are added up before they are rounded', () => {
  const lines = Array.from({ length: 10 }, () => '2026-10-01,0.00000000000005')
  assert.deepEqual(costsIn(`day,cost_usd\n${lines.join('\n')}`), [
    ['2026-10-01', '', '0.000000000001'],
  ])
})

test('an incomplete or unknown file is refused with the place of the fault', () => {
  for (const [text, detail] of [
    ['', /columns are none|no line/],
    ['foo,bar\n1,2\n', /columns are foo, bar/],
    ['day,cost_usd\n', /no line/],
    ['day,day,cost_usd\n2026-10-01,2,3\n', /same name/],
    ['day,cost_usd\n2026-10-01,1\n2026-02-30,1\n', /^line 3: .*day/],
    ['day,cost_usd\n0001-01-01,1\n', /^line 2: .*day/],
    ['day,cost_usd\n"2026-10-01,1\n', /never closed/],
    ['day,cost_usd\n2026-10-01,\n', /^line 2: .*amount/],
    ['day,cost_usd\n2026-10-01,"1,5"\n', /amount/],
    ['day,cost_usd\n2026-10-01,1e-99\n', /amount/],
    ['day,cost_usd\n2026-10-01,NaN\n', /amount/],
    ['day,cost_usd\n2026-10-01,10000000\n', /nine million/],
    [`day,cost_usd,model\n2026-10-01,1,${'m'.repeat(201)}\n`, /too long/],
    ['start_time_iso,amount_value,amount_currency\n2026-10-01,1,eur\n', /amount/],
    ['start_time_iso,amount_value,amount_currency\n2026-10-01T05:00:00,1,usd\n', /day/],
    [
      'start_time_iso,end_time_iso,amount_value,amount_currency\n2026-10-01,2026-11-01,1,usd\n',
      /day/,
    ],
  ] as const) {
    const parsed = parseCostExport(text)
    assert.ok(parsed.kind === 'fault', text)
    assert.match(parsed.detail, detail)
  }
})

test('any text is read or refused', () => {
  const line = fc.array(fc.constantFrom('"', ',', '\n', '\r\n', '1', '2026-10-01', 'x', ';'))
  fc.assert(
    fc.property(line, fc.boolean(), (pieces, hasHead) => {
      const parsed = parseCostExport((hasHead ? 'day,cost_usd\n' : '') + pieces.join(''))
      assert.ok(parsed.kind === 'fault' || parsed.costs.length > 0)
    }),
  )
})

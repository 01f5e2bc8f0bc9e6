/** The history of applied exchange rates, for programs and for people, without a key. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { listAppliedRates } from '../../src/money/fx/applied-rates.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { findCurrentFxRate } from '../../src/money/fx/fx-rates.ts'
import { withdrawFxRate } from '../../src/money/fx/set-fx-rate.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node
const origin = new URL(baseUrl).origin

interface Stored {
  readonly rateE4: number
  readonly day: string
  readonly source: string
  readonly at: string
}

async function store({ rateE4, day, source, at }: Stored): Promise<void> {
  await sql`insert into fx_rates (rate_e4, rate_date, source, created_at)
    values (${rateE4}, ${day}, ${source}, ${at})`.execute(db)
}

test("the rate of a charge is listed as the current one, and labelled as the sandbox's", async () => {
  const listed = await ask(baseUrl, '/fx-rates')
  assert.equal(listed.status, 200, listed.text)
  assert.equal(listed.json.mode, 'sandbox')
  const [rate] = listed.json.fx_rates
  assert.deepEqual(
    [rate.is_sandbox, rate.source, rate.bulletin_at, rate.applied_until],
    [true, 'sandbox', null, null],
  )
  assert.match(listed.text, /"rate":5\.2[,}]/)
  await askChat(baseUrl, gateway.secret, sound())
  const [charge] = (await ask(baseUrl, '/usage/events?limit=1', { secret: gateway.secret })).json
    .usage_events
  assert.deepEqual([charge.fx_rate, charge.fx_rate_date], [rate.rate, rate.rate_date])
  assert.ok(new Date(charge.created_at) >= new Date(rate.applied_from))
})

test('a client with the current list gets a 304 until a rate is stored', async () => {
  const etag = (await ask(baseUrl, '/fx-rates')).headers.get('etag') ?? ''
  assert.match(etag, /^".{27}(-gzip)?"$/)
  const again = (): Promise<number> =>
    ask(baseUrl, '/fx-rates', { headers: { 'if-none-match': etag } }).then(({ status }) => status)
  assert.equal(await again(), 304)
  await store({ rateE4: 50_000, day: '2020-01-02', source: 'sandbox', at: '2020-01-02T16:00:00Z' })
  assert.equal(await again(), 200)
})

test('a rate applies until one of its day or a later day is stored, and a rate of an earlier day never applies', async () => {
  const live = (rateE4: number, day: string, at: string, source = 'bcb_olinda') =>
    store({ rateE4, day, source, at })
  await live(51_000, '2026-03-02', '2026-03-02T16:15:00Z')
  await live(52_000, '2026-03-03', '2026-03-03T16:15:00Z')
  await live(49_000, '2026-03-02', '2026-03-03T17:00:00Z', 'manual')
  await live(52_500, '2026-03-03', '2026-03-03T18:00:00Z', 'manual')
  await live(53_000, '2026-03-04', '2026-03-04T16:15:00Z')
  const rates = await listAppliedRates(db, 'live', { limit: 400 })
  const iso = (at: Date | null): string | undefined => at?.toISOString().slice(0, 16)
  assert.deepEqual(
    rates.map((one) => [Number(one.rateE4), iso(one.appliedFrom), iso(one.appliedUntil)]),
    [
      [53_000, '2026-03-04T16:15', undefined],
      [52_500, '2026-03-03T18:00', '2026-03-04T16:15'],
      [52_000, '2026-03-03T16:15', '2026-03-03T18:00'],
      [49_000, undefined, undefined],
      [51_000, '2026-03-02T16:15', '2026-03-03T16:15'],
    ],
  )
  assert.equal((await findCurrentFxRate(db, 'live'))?.rateE4, 53_000n)
  const window = { from: '2026-03-03', to: '2026-03-03', limit: 1 }
  const [newest, ...more] = await listAppliedRates(db, 'live', window)
  assert.deepEqual(
    [newest?.rateE4, iso(newest?.appliedUntil ?? null), more],
    [52_500n, '2026-03-04T16:15', []],
  )
  const { json } = await ask(baseUrl, '/fx-rates?limit=400')
  assert.ok(json.fx_rates.every((one: { source: string }) => one.source === 'sandbox'))
})

test('a withdrawn rate is listed as applied until its withdrawal, and the one before it from then on', async () => {
  const live = (rateE4: number, day: string, at: string) =>
    store({ rateE4, day, source: 'manual', at })
  await live(54_000, '2026-03-05', '2026-03-05T16:15:00Z')
  await live(540_000, '2026-03-20', '2026-03-06T12:00:00Z')
  await live(55_000, '2026-03-06', '2026-03-06T12:30:00Z')
  const { rows } = await sql<{ id: number }>`
    select id from fx_rates where rate_e4 = 540000`.execute(db)
  const id = rows[0]?.id ?? 0
  const taken = await withdrawFxRate(db, OPERATOR, { mode: 'live', id, note: undefined })
  assert.equal(taken.kind, 'withdrawn')
  assert.equal(taken.inForce.rateE4, 55_000n)
  const rates = await listAppliedRates(db, 'live', { from: '2026-03-05', limit: 400 })
  const at = rates[0]?.appliedUntil
  const iso = (time: Date | null | undefined) => time?.toISOString().slice(0, 16)
  assert.deepEqual(
    rates.map((one) => [Number(one.rateE4), iso(one.appliedFrom), iso(one.appliedUntil)]),
    [
      [540_000, '2026-03-06T12:00', iso(at)],
      [55_000, iso(at), undefined],
      [55_000, undefined, undefined],
      [54_000, '2026-03-05T16:15', '2026-03-06T12:00'],
    ],
  )
})

test('the days of a window are inclusive, and an invalid window is refused', async () => {
  const dates = async (query: string): Promise<string[]> => {
    const { json } = await ask(baseUrl, `/fx-rates?${query}`)
    return json.fx_rates.map((one: { rate_date: string }) => one.rate_date)
  }
  assert.deepEqual(await dates('from=2020-01-02&to=2020-01-02'), ['2020-01-02'])
  assert.deepEqual(await dates('to=2020-01-01'), [])
  assert.equal((await dates('from=2020-01-03')).includes('2020-01-02'), false)
  for (const query of ['from=2026-02-30', 'to=x', 'from=2026-01-02&to=2026-01-01', 'limit=401']) {
    const { status, json } = await ask(baseUrl, `/fx-rates?${query}`)
    assert.deepEqual([status, json.error], [400, 'invalid_request'], query)
  }
})

test("the page shows the rates in Portuguese, labels them as the sandbox's, and runs no script", async () => {
  await store({
    rateE4: 40_000,
    day: '2020-01-06',
    source: 'sandbox',
    at: '2020-01-06T16:00:00Z',
  })
  const answer = await fetch(`${origin}/cambio`)
  const html = await answer.text()
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
  assert.match(answer.headers.get('content-security-policy') ?? '', /^default-src 'none'/)
  assert.doesNotMatch(html, /<script|https?:\/\//)
  assert.match(html, /lang="pt-BR"/)
  assert.match(html, /Modo de teste\./)
  assert.match(html, /<td>5,2000<\/td>.*em vigor/)
  assert.match(
    html,
    /<td>4,0000<\/td><td>06\/01\/2020<\/td><td class="wide">sandbox \(fictícia\)<\/td>/,
  )
  assert.doesNotMatch(html, /bcb_olinda|Banco Central do Brasil<\/td>/)
})

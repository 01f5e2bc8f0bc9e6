/** Against a server that replays the central bank's answers and failures. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { fetchPtax, type FetchPtax, type PtaxResult } from './fetch-ptax.ts'

type Answer = (url: URL, response: ServerResponse) => void

/** The current time of the tests, and the published rates of its week: Friday 2 October, 18:00 in Brasília. */
const NOW = new Date('2026-10-02T21:00:00Z')
const OLINDA_WEEK = olindaAnswer(
  ['5.22380', '2026-10-02 13:09:19.199664'],
  ['5.20790', '2026-10-01 13:04:31.0'],
  ['5.18090', '2026-09-30 13:08:27.4469'],
  ['5.22040', '2026-09-29 13:05:10.35885'],
  ['5.21320', '2026-09-28 17:51:00.5'],
)
const EMPTY = '{"@odata.context":"x","value":[]}'
const SGS_WEEK = '[{"data":"01/10/2026","valor":"5.2079"},{"data":"02/10/2026","valor":"5.2238"}]'
const MAINTENANCE = '<!DOCTYPE html><html><body>Sistema em manutenção</body></html>'
const CSV_FRIDAY = [
  '02/10/2026;005;A;AFN;0,07560000;0,07610000;68,50000000;68,90000000',
  '02/10/2026;220;A;USD;5,22320000;5,22380000;1,00000000;1,00000000',
  '02/10/2026;978;B;EUR;6,11110000;6,11270000;1,17000000;1,17020000',
].join('\r\n')

function olindaAnswer(...rows: (readonly [sell: string, at: string])[]): string {
  const value = rows.map(
    ([sell, at]) => `{"cotacaoCompra":1.0,"cotacaoVenda":${sell},"dataHoraCotacao":"${at}"}`,
  )
  return `{"@odata.context":"x","value":[${value.join(',')}]}`
}

let answers: { olinda: Answer; sgs: Answer; csv: Answer }
let asked: URL[]
const server = createServer((request: IncomingMessage, response) => {
  const url = new URL(request.url as string, 'http://replay')
  asked.push(url)
  const [, source] = url.pathname.split('/')
  answers[source as keyof typeof answers](url, response)
})
let base: string

before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  asked = []
  answers = { olinda: status(503), sgs: status(503), csv: status(404) }
})

function text(body: string): Answer {
  return (_url, response) => response.end(body)
}

function status(code: number): Answer {
  return (_url, response) => response.writeHead(code).end(MAINTENANCE)
}

async function ptax(more: Partial<FetchPtax> = {}): Promise<PtaxResult> {
  const bases = { bcb_olinda: `${base}/olinda`, bcb_sgs: `${base}/sgs`, bcb_csv: `${base}/csv` }
  return fetchPtax({ fetch, now: NOW, bases, wait: async () => {}, ...more })
}

function faultsOf(result: PtaxResult): string {
  assert.equal(result.kind, 'unavailable')
  return result.faults.join('\n')
}

test('the newest closing rate of the last ten days, in one call, with its bulletin in UTC', async () => {
  answers.olinda = text(OLINDA_WEEK)
  assert.deepEqual(await ptax(), {
    kind: 'rate',
    rateE4: 52_238n,
    rateDate: '2026-10-02',
    bulletinAt: new Date('2026-10-02T16:09:19Z'),
    source: 'bcb_olinda',
  })
  assert.equal(asked.length, 1)
  const url = decodeURIComponent((asked[0] as URL).href)
  assert.match(
    url,
    /CotacaoDolarPeriodo\(dataInicial=@dataInicial,dataFinalCotacao=@dataFinalCotacao\)/,
  )
  assert.match(url, /@dataInicial='09-23-2026'&@dataFinalCotacao='10-02-2026'/)
})

test('each published rate is read to the last digit, in any order of rows', async () => {
  for (const [written, rateE4] of [
    ['5.21320', 52_132n],
    ['5.22040', 52_204n],
    ['5.18090', 51_809n],
    ['5.2079', 52_079n],
    ['5', 50_000n],
  ] as const) {
    answers.olinda = text(
      olindaAnswer(
        ['4.9', '2026-09-30 13:00:00.0'],
        [written, '2026-10-01 13:00:00.0'],
        ['4.8', '2026-09-29 13:00:00'],
      ),
    )
    const result = await ptax()
    assert.equal(result.kind, 'rate')
    assert.equal(result.rateE4, rateE4)
    assert.equal(result.rateDate, '2026-10-01')
  }
})

test('"today" is the day in Brasília, not on the server', async () => {
  answers.olinda = text(olindaAnswer(['5.2238', '2026-10-02 13:09:19.1']))
  assert.equal((await ptax({ now: new Date('2026-10-03T02:59:00Z') })).kind, 'rate')
  assert.match(decodeURIComponent((asked[0] as URL).href), /@dataFinalCotacao='10-02-2026'/)
  await ptax({ now: new Date('2026-10-03T03:01:00Z') })
  assert.match(decodeURIComponent((asked[1] as URL).href), /@dataFinalCotacao='10-03-2026'/)
})

test('fallback 1: the series, if the first source is unavailable, in maintenance, or empty', async () => {
  answers.sgs = text(SGS_WEEK)
  const bad: Answer[] = [
    status(503),
    status(400),
    text(MAINTENANCE),
    text(EMPTY),
    text('{}'),
    text('[]'),
    text('{"value":[{"cotacaoVenda":"x","dataHoraCotacao":"2026-10-02 13:00:00"}]}'),
    text(olindaAnswer(['5.2238', '02/10/2026'])),
    text(olindaAnswer(['5e0', '2026-10-02 13:00:00.0'])),
    text(olindaAnswer(['-5.2', '2026-10-02 13:00:00.0'])),
    (_url, response) => response.destroy(),
    text(`{"value":[],"x":"${'x'.repeat(300_000)}"}`),
  ]
  for (const olinda of bad) {
    answers.olinda = olinda
    assert.deepEqual(await ptax(), {
      kind: 'rate',
      rateE4: 52_238n,
      rateDate: '2026-10-02',
      bulletinAt: null,
      source: 'bcb_sgs',
    })
  }
  const url = asked.find(({ pathname }) => pathname.startsWith('/sgs')) as URL
  assert.equal(url.searchParams.get('dataInicial'), '23/09/2026')
  assert.equal(url.searchParams.get('dataFinal'), '02/10/2026')
})

test('fallback 2: the file of the newest day that has one; weekends are skipped', async () => {
  answers.csv = (url, response) =>
    url.pathname.endsWith('/20261002.csv')
      ? response.end(CSV_FRIDAY)
      : response.writeHead(404).end()
  const result = await ptax({ now: new Date('2026-10-05T12:00:00Z') })
  assert.deepEqual(result, {
    kind: 'rate',
    rateE4: 52_238n,
    rateDate: '2026-10-02',
    bulletinAt: null,
    source: 'bcb_csv',
  })
  const days = asked.filter(({ pathname }) => pathname.startsWith('/csv'))
  assert.deepEqual(
    days.map(({ pathname }) => pathname),
    ['/csv/20261005.csv', '/csv/20261002.csv'],
  )
})

test('a source that fails briefly is retried before the next one is tried', async () => {
  let calls = 0
  answers.olinda = (_url, response) => {
    if (++calls < 3) response.writeHead(504).end()
    else response.end(OLINDA_WEEK)
  }
  const result = await ptax()
  assert.equal(result.kind === 'rate' && result.source, 'bcb_olinda')
  assert.equal(asked.length, 3)
})

test('a rate that moved by more than 20 percent, is in the future, or is absurd, is rejected', async () => {
  answers.olinda = text(OLINDA_WEEK)
  assert.equal((await ptax({ knownE4s: [43_600n] })).kind, 'rate')
  assert.match(faultsOf(await ptax({ knownE4s: [43_500n] })), /more than 20 %/)
  assert.match(faultsOf(await ptax({ knownE4s: [65_300n] })), /more than 20 %/)
  // One known rate near it is enough: of a slip by hand and the last official rate, the slip decides nothing.
  assert.equal((await ptax({ knownE4s: [522_380n, 52_132n] })).kind, 'rate')
  assert.match(faultsOf(await ptax({ knownE4s: [522_380n, 43_500n] })), /more than 20 %/)
  for (const [sell, at] of [
    ['5.2238', '2026-10-03 13:00:00.0'],
    ['5.2238', '2026-02-10 13:00:00.0'],
    ['0.0000', '2026-10-02 13:00:00.0'],
    ['100.0', '2026-10-02 13:00:00.0'],
  ] as const) {
    answers.olinda = text(olindaAnswer([sell, at]))
    assert.match(faultsOf(await ptax()), /bcb_olinda: a rate of/)
  }
})

test('if no source has a rate, the result has the fault of each', async () => {
  const faults = faultsOf(await ptax())
  assert.match(faults, /bcb_olinda: status 503/)
  assert.match(faults, /bcb_sgs: status 503/)
  assert.match(faults, /bcb_csv: no rate between 2026-09-23 and 2026-10-02/)
})

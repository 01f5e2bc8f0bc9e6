/** What anybody may ask of the service's state: how upstreams do, and what does not work. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import {
  BREAKER_LEASE_SECONDS,
  expireBreakerIncidents,
  reportBreakerClosed,
  reportBreakerOpen,
} from '../../src/platform/health/breaker-incidents.ts'
import {
  createHealthRecorder,
  type HealthRecorder,
} from '../../src/platform/health/health-recorder.ts'
import { listIncidents, resolveIncident } from '../../src/platform/health/incidents.ts'
import {
  pruneHealth,
  summarizeHealth,
  type VendorHealth,
} from '../../src/platform/health/health-summaries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { runCli, type RanCli, TARGET_LINE } from '../harness/run-cli.ts'
import { createTestDatabase, withClient, type TestDatabase } from '../harness/test-database.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertNoTrace } from '../harness/assert-answer.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

interface TestRecorder extends HealthRecorder {
  /** Events of its log. */
  readonly events: Record<string, unknown>[]
}

function createRecorder(db: Database, now?: () => number): TestRecorder {
  const events: Record<string, unknown>[] = []
  const log = createLog('debug', (line) => events.push(JSON.parse(line)))
  return { ...createHealthRecorder({ db, log, ...(now ? { now } : {}) }), events }
}

function samples(
  recorder: HealthRecorder,
  vendor: string,
  counts: { ok?: number; failed?: number; firstByteMs?: number; upstreamId?: string },
): void {
  const { ok = 0, failed = 0, firstByteMs = 100, upstreamId = 'hidden-upstream' } = counts
  for (let i = 0; i < ok; i++) recorder.sample({ vendor, upstreamId, ok: true, firstByteMs })
  for (let i = 0; i < failed; i++)
    recorder.sample({ vendor, upstreamId, ok: false, firstByteMs: 90_000 })
}

/** A pooler that was refused lets its clients wait for a second before it tries again. */
async function untilAnswered(db: Database): Promise<void> {
  for (const endMs = Date.now() + 30_000; ; await sleep(100)) {
    const isAnswered = await sql`select`.execute(db).then(
      () => true,
      () => false,
    )
    if (isAnswered) return
    assert.ok(Date.now() < endMs, 'the database stays closed')
  }
}

async function withDatabase(work: (database: TestDatabase) => Promise<void>): Promise<void> {
  const database = await createTestDatabase()
  try {
    await work(database)
  } finally {
    await database.drop()
  }
}

function requestsOf(summary: readonly VendorHealth[]): Record<string, number> {
  return Object.fromEntries(summary.map(({ vendor, requests }) => [vendor, requests]))
}

function assertPublic(answer: Asked, maxAgeSeconds: number): void {
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  assert.equal(answer.headers.get('cache-control'), `public, max-age=${maxAgeSeconds}`)
  assertHeaders(answer, answer.requestId)
  assertNoTrace(answer)
}

test('health sums the counts of all nodes, upstreams and hours, with percentiles within 5 %', () =>
  withDatabase(async ({ db }) => {
    let nowMs = Date.now() - 20 * HOUR_MS
    const nodes = [createRecorder(db, () => nowMs), createRecorder(db, () => nowMs)]
    const latencies: number[] = []
    for (let i = 0; i < 4_000; i++) {
      // Spread evenly over the decades from 1 ms to 15 min.
      const firstByteMs = 900_000 ** ((i * 0.618_034) % 1)
      latencies.push(firstByteMs)
      const upstreamId = i % 3 === 0 ? 'one' : 'other'
      ;(nodes[i % 2] as TestRecorder).sample({ vendor: 'maker', upstreamId, ok: true, firstByteMs })
      if (i % 1_000 === 0) {
        nowMs += HOUR_MS
        await Promise.all(nodes.map((node) => node.flush()))
      }
    }
    samples(nodes[0] as TestRecorder, 'maker', { failed: 1 })
    await Promise.all(nodes.map((node) => node.flush()))

    const [health, ...rest] = await summarizeHealth(db, 1)
    assert.ok(health)
    assert.deepEqual(rest, [])
    assert.deepEqual(
      [health.vendor, health.requests, health.uptimePercent],
      ['maker', 4_001, 99.97],
    )
    latencies.sort((one, other) => one - other)
    const exact = { p50Ms: latencies[1_999] as number, p95Ms: latencies[3_799] as number }
    for (const name of ['p50Ms', 'p95Ms'] as const) {
      const error = Math.abs((health[name] as number) - exact[name]) / exact[name]
      assert.ok(error <= 0.05, `${name} is ${health[name]}, exactly ${exact[name]}`)
    }
    assert.deepEqual(
      nodes.flatMap(({ events }) => events),
      [],
    )
  }))

test('uptime is rounded down: 100 means that no call failed', () =>
  withDatabase(async ({ db }) => {
    const recorder = createRecorder(db)
    samples(recorder, 'all', { ok: 3 })
    samples(recorder, 'most', { ok: 29_999, failed: 1 })
    samples(recorder, 'some', { ok: 2, failed: 1 })
    samples(recorder, 'none', { failed: 2 })
    await recorder.flush()
    const summary = await summarizeHealth(db, 1)
    assert.deepEqual(
      summary.map((health) => [health.vendor, health.uptimePercent]),
      [
        ['all', 100],
        ['most', 99.99],
        ['none', 0],
        ['some', 66.66],
      ],
    )
    assert.deepEqual(summary[2], {
      vendor: 'none',
      requests: 2,
      uptimePercent: 0,
      p50Ms: null,
      p95Ms: null,
      byDay: [{ day: summary[2]?.byDay[0]?.day, uptimePercent: 0 }],
    })
  }))

test('a window has exactly its days, and samples older than 100 days are removed', () =>
  withDatabase(async ({ db }) => {
    let nowMs = Date.now()
    const recorder = createRecorder(db, () => nowMs)
    for (const [vendor, days] of Object.entries({
      a: 0,
      b: 0.5,
      c: 1.5,
      d: 89,
      e: 91,
      f: 99,
      g: 101,
    })) {
      nowMs = Date.now() - days * DAY_MS
      samples(recorder, vendor, { ok: 1 })
    }
    await recorder.flush()
    const vendors = async (days: number): Promise<string> =>
      Object.keys(requestsOf(await summarizeHealth(db, days))).join('')
    assert.deepEqual([await vendors(1), await vendors(2), await vendors(90)], ['ab', 'abc', 'abcd'])
    assert.equal(await pruneHealth(db), 1)
    assert.equal(await pruneHealth(db), 0)
    assert.equal(await vendors(1_000), 'abcdef')
  }))

test('samples survive an unavailable database, and each counts once', () =>
  withDatabase(async ({ db, databaseUrl }) => {
    const recorder = createRecorder(db)
    const name = new URL(databaseUrl.replace('@/', '@placeholder/')).pathname.slice(1)
    const letIn = (isAllowed: boolean): Promise<unknown> =>
      withClient(process.env.TEST_DATABASE_URL as string, async (admin) => {
        await admin.query(`alter database ${name} allow_connections ${isAllowed}`)
        if (!isAllowed)
          await admin.query(
            'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1',
            [name],
          )
      })
    samples(recorder, 'maker', { ok: 3, failed: 1 })
    await recorder.flush()
    await letIn(false)
    samples(recorder, 'maker', { ok: 5, firstByteMs: 700 })
    const failing = recorder.flush()
    samples(recorder, 'maker', { ok: 7, failed: 2 })
    await failing
    await recorder.flush()
    samples(recorder, 'another', { ok: 1 })
    assert.deepEqual(
      recorder.events.map(({ event, level }) => [level, event]),
      [
        ['warn', 'health_flush_failed'],
        ['warn', 'health_flush_failed'],
      ],
    )
    await letIn(true)
    await untilAnswered(db)
    await Promise.all([recorder.flush(), recorder.flush()])
    await recorder.flush()
    const summary = await summarizeHealth(db, 1)
    assert.deepEqual(requestsOf(summary), { another: 1, maker: 18 })
    assert.equal(summary[1]?.uptimePercent, 83.33)
    const { rows } = await sql<{ count: bigint }>`
      select sum(n)::int8 as count from upstream_health_hours, unnest(latency_counts) n`.execute(db)
    assert.equal(rows[0]?.count, 16n, 'a failed attempt has no latency')
  }))

test('a flush into a closed pool is logged, and its counts are kept', async () => {
  const { databaseUrl } = gateway.database
  const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
  await summarizeHealth(db, 1)
  await close()
  const recorder = createRecorder(db)
  samples(recorder, 'maker', { ok: 2 })
  await recorder.flush()
  await recorder.flush()
  assert.deepEqual(
    recorder.events.map(({ event, hours }) => [event, hours]),
    [
      ['health_flush_failed', 1],
      ['health_flush_failed', 1],
    ],
  )
})

test('counts that wait for the database are bounded: the oldest hours are dropped first, with a log line', () =>
  withDatabase(async ({ db }) => {
    let nowMs = Date.now() - 90 * DAY_MS
    const recorder = createRecorder(db, () => nowMs)
    for (let hour = 0; hour < 2_003; hour++) {
      samples(recorder, 'maker', { ok: 1 })
      nowMs += HOUR_MS
    }
    assert.deepEqual(
      recorder.events.map(({ event, okCount, failedCount }) => [event, okCount, failedCount]),
      Array.from({ length: 3 }, () => ['health_samples_dropped', 1, 0]),
    )
    await recorder.flush()
    assert.deepEqual(requestsOf(await summarizeHealth(db, 100)), { maker: 2_000 })
    const { rows } = await sql<{ oldest: Date }>`
      select min(hour_at) as oldest from upstream_health_hours`.execute(db)
    const firstMs = nowMs - (nowMs % HOUR_MS) - 2_000 * HOUR_MS
    assert.equal(rows[0]?.oldest.getTime(), firstMs)
  }))

test('health has each day of Brasília with a call, the oldest first', () =>
  withDatabase(async ({ db }) => {
    const recorder = createRecorder(db)
    samples(recorder, 'maker', { ok: 3, failed: 1 })
    await recorder.flush()
    const at = async (from: string, to: string): Promise<void> => {
      await sql`
        insert into upstream_health_hours select ${to}::timestamptz, upstream_id, vendor, ok_count, 0, latency_counts
        from upstream_health_hours where hour_at = ${from}::timestamptz`.execute(db)
    }
    const { rows } = await sql<{ hour: string; midnight: string; today: string }>`
      select hour_at::text as hour, to_char(now() at time zone 'America/Sao_Paulo', 'YYYY-MM-DD') as today,
        (date_trunc('day', now() at time zone 'America/Sao_Paulo') at time zone 'America/Sao_Paulo')::text as midnight
      from upstream_health_hours`.execute(db)
    const { hour, midnight, today } = rows[0] as { hour: string; midnight: string; today: string }
    await at(hour, new Date(Date.parse(midnight) - 3_600_000).toISOString())
    const [health] = await summarizeHealth(db, 90)
    const yesterday = new Date(Date.parse(today) - 86_400_000).toISOString().slice(0, 10)
    assert.deepEqual(health?.byDay, [
      { day: yesterday, uptimePercent: 100 },
      { day: today, uptimePercent: 75 },
    ])
  }))

test('health by model maker is public, and names no upstream', async () => {
  const { db } = gateway.database
  const [one, other] = [createRecorder(db), createRecorder(db)]
  samples(one, 'zeta', { ok: 1, failed: 2 })
  samples(one, 'alfa', { ok: 19, firstByteMs: 200 })
  samples(other, 'alfa', { ok: 1, firstByteMs: 3_000, upstreamId: 'another-hidden-upstream' })
  samples(other, 'beta', { failed: 1 })
  await Promise.all([one.flush(), other.flush()])

  const answer = await ask(gateway.node.baseUrl, '/upstream-health')
  assertPublic(answer, 30)
  assert.doesNotMatch(answer.text, /hidden/)
  // The middles of the buckets that 200 ms and 100 ms are in.
  const byDay = (percent: number): unknown =>
    answer.json.providers
      .map((each: any) => each.by_day)[0]
      .map(({ day }: any) => ({ day, uptime_percent: percent }))
  assert.deepEqual(answer.json, {
    days: 30,
    providers: [
      {
        provider: 'alfa',
        requests: 20,
        uptime_percent: 100,
        p50_ms: 206,
        p95_ms: 206,
        by_day: byDay(100),
      },
      {
        provider: 'beta',
        requests: 1,
        uptime_percent: 0,
        p50_ms: null,
        p95_ms: null,
        by_day: byDay(0),
      },
      {
        provider: 'zeta',
        requests: 3,
        uptime_percent: 33.33,
        p50_ms: 102,
        p95_ms: 102,
        by_day: byDay(33.33),
      },
    ],
  })
  // With a key, a wrong one or none: it is the same.
  for (const secret of [gateway.secret, 'sk-svc-nobody'])
    assert.deepEqual(
      (await ask(gateway.node.baseUrl, '/upstream-health', { secret })).json,
      answer.json,
    )

  samples(one, 'gama', { ok: 1 })
  await one.flush()
  const again = await ask(gateway.node.baseUrl, '/upstream-health')
  assert.deepEqual(again.json, answer.json, 'an answer is kept as long as clients may keep it')
  const longer = await ask(gateway.node.baseUrl, '/upstream-health?days=31')
  assert.equal(longer.json.providers.length, 4)
})

test('a window is 1 to 90 whole days', async () => {
  for (const days of ['1', '90']) {
    const answer = await ask(gateway.node.baseUrl, `/upstream-health?days=${days}`)
    assertPublic(answer, 30)
    assert.equal(answer.json.days, Number(days))
  }
  for (const query of [
    ...['0', '91', '100', '-1', '1.5', '07', '1e1', '', 'trinta', '%2030', '0x10'].map(
      (text) => `days=${text}`,
    ),
    'days=1&days=2',
  ]) {
    const answer = await ask(gateway.node.baseUrl, `/upstream-health?${query}`)
    assert.equal(answer.status, 400, query)
    assert.deepEqual(Object.keys(answer.json), ['error', 'details'])
    assert.equal(answer.json.error, 'invalid_request')
    assert.match(
      answer.json.details,
      /^days: deve ser (um número inteiro|no mínimo 1|no máximo 90)$/,
    )
    assert.equal(answer.headers.get('cache-control'), null)
    assertHeaders(answer, answer.requestId)
  }
})

async function activeIncidents(): Promise<any[]> {
  const answer = await ask(gateway.node.baseUrl, '/incidents/active')
  assertPublic(answer, 15)
  assert.deepEqual(Object.keys(answer.json), [
    'incidents',
    'resolved',
    'models_out_of_service',
    'calls_paused',
  ])
  return answer.json.incidents
}

function run(...args: string[]): Promise<RanCli> {
  return runCli(args, {
    DATABASE_URL: gateway.database.databaseUrl,
    DATA_DIR: gateway.node.dataDir,
  })
}

async function cliText(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('incident', ...args)
  assert.deepEqual([code, stderr.replace(TARGET_LINE, '')], [0, ''], args.join(' '))
  return stdout
}

async function cliJson(...args: string[]): Promise<any> {
  return JSON.parse(await cliText(...args, '--json'))
}

test('customers see the incidents that an operator opens, updates and resolves, with their history', async () => {
  assert.deepEqual(await activeIncidents(), [])
  assert.equal(await cliText('list'), 'no incidents\n')
  const title = 'Lentidão nas respostas'
  const opened = await cliJson(
    'open',
    '--title',
    title,
    '--message',
    'Estamos verificando.',
    '--model',
    'claude-opus-4-5',
  )
  assert.deepEqual(opened, {
    id: opened.id,
    title,
    message: 'Estamos verificando.',
    severity: 'major',
    models: ['claude-opus-4-5'],
    vendors: ['anthropic'],
  })
  const [shown, ...none] = await activeIncidents()
  assert.deepEqual(none, [])
  assert.deepEqual(shown, {
    id: opened.id,
    title,
    message: 'Estamos verificando.',
    severity: 'major',
    models: ['claude-opus-4-5'],
    providers: ['anthropic'],
    status: 'open',
    started_at: shown.started_at,
    updated_at: shown.started_at,
  })
  assert.equal(new Date(shown.started_at).toISOString(), shown.started_at)

  const said = await cliText('open', '--title', 'Geral', '--message', 'x', '--severity', 'critical')
  const second = /^opened (\S+) {2}Geral\n$/.exec(said)?.[1] ?? ''
  assert.deepEqual(
    (await activeIncidents()).map(({ id, severity, models, providers }) => [
      id,
      severity,
      models,
      providers,
    ]),
    [
      [second, 'critical', [], []],
      [opened.id, 'major', ['claude-opus-4-5'], ['anthropic']],
    ],
    'newest first',
  )

  assert.equal(await cliText('update', opened.id, '--message', 'Causa achada.'), 'updated\n')
  assert.deepEqual(
    await cliJson('update', opened.id, '--message', 'Quase normal.', '--severity', 'minor'),
    { outcome: 'updated' },
  )
  const updated = (await activeIncidents())[1]
  assert.deepEqual(updated, {
    ...shown,
    message: 'Quase normal.',
    severity: 'minor',
    updated_at: updated.updated_at,
  })
  assert.ok(updated.updated_at > shown.updated_at)

  assert.equal(await cliText('resolve', opened.id, '--message', 'Resolvido.'), 'resolved\n')
  assert.equal(await cliText('resolve', opened.id), 'it was already resolved\n')
  assert.deepEqual(await cliJson('resolve', second), { outcome: 'resolved' })
  assert.deepEqual(await activeIncidents(), [])
  assert.deepEqual(await cliJson('list'), [])

  const all = await cliJson('list', '--all')
  const kept = all.find(({ id }: { id: string }) => id === opened.id)
  assert.deepEqual([kept.state, kept.source, kept.message], ['resolved', 'operator', 'Resolvido.'])
  assert.deepEqual(
    kept.updates.map((update: any) => [update.status, update.severity, update.message]),
    [
      ['opened', 'major', 'Estamos verificando.'],
      ['updated', 'major', 'Causa achada.'],
      ['updated', 'minor', 'Quase normal.'],
      ['resolved', 'minor', 'Resolvido.'],
    ],
  )
  const table = await cliText('list', '--all')
  assert.match(
    table,
    new RegExp(`^${opened.id} +resolved +minor +operator .* claude-opus-4-5 +${title}$`, 'm'),
  )
  assert.match(table, new RegExp(`^${second} +resolved +critical +operator .* - +Geral$`, 'm'))
})

test('an invalid command is refused with one line, and creates no incident', async () => {
  const open = (...rest: string[]): string[] => ['open', '--title', 'T', '--message', 'M', ...rest]
  const resolved = await cliJson(...open())
  await cliText('resolve', resolved.id)
  const cases: [string[], RegExp][] = [
    [['open', '--message', 'M'], /^--title is needed$/m],
    [['open', '--title', 'T'], /^--message is needed$/m],
    [['open', '--title', 'T'.repeat(201), '--message', 'M'], /^--title: .*200 characters/m],
    [['open', '--title', 'T', '--message', 'M'.repeat(2_001)], /^--message: .*2000 characters/m],
    [
      open('--severity', 'grave'),
      /^--severity: must be one of minor, major, critical, not "grave"$/m,
    ],
    [open('--model', 'claude-opus-4-5,gpt-nada'), /^--model: not in the catalog: gpt-nada$/m],
    [open('--vendor', 'hidden-upstream'), /^--vendor: .*hidden-upstream$/m],
    [open('--all'), /--all: not an option of `incident open`/],
    [['update', '--message', 'M'], /^give the id of an incident/m],
    [['update', createId(), '--message', 'M'], /^no incident/m],
    [['update', 'x', '--message', 'M'], /^no incident x$/m],
    [['update', resolved.id, '--message', 'M'], /^the incident is resolved/m],
    [['update', resolved.id], /^--message is needed$/m],
    [['resolve'], /^give the id of an incident/m],
    [['resolve', resolved.id, '--message', ' '], /^--message: must not be empty$/m],
    [['resolve', createId()], /^no incident/m],
    [['list', '--title', 'T'], /--title: not an option of `incident list`/],
  ]
  const wrong = await Promise.all(
    cases.map(async ([args, message]) => {
      const ran = await run('incident', ...args)
      const isRefused = ran.code === 2 && ran.stdout === '' && message.test(ran.stderr)
      return isRefused && !/^\s+at /m.test(ran.stderr)
        ? []
        : [{ args: args.join(' ').slice(0, 99), ...ran }]
    }),
  )
  assert.deepEqual(wrong.flat(), [])
  assert.deepEqual(await activeIncidents(), [])
  const [last] = await listIncidents(gateway.database.db, { onlyOpen: false })
  assert.ok(last)
  assert.equal(last.id, resolved.id)
  assert.deepEqual(
    last.updates.map(({ status, message }) => [status, message]),
    [
      ['opened', 'M'],
      ['resolved', null],
    ],
  )
})

test('concurrent reports of one breaker create one incident, which ends when the breaker closes', async () => {
  const subject = 'hidden-upstream/claude-haiku-4-5'
  const opened = Array.from({ length: 2 }, () =>
    openDatabase(gateway.database.databaseUrl, { onError: () => {} }),
  )
  const nodes = opened.map(({ db }) => ({ db, nodeId: createId() }))
  try {
    const report = ({ db, nodeId }: { db: Database; nodeId: string }): Promise<string> =>
      reportBreakerOpen(db, {
        nodeId,
        subject,
        modelIds: ['claude-haiku-4-5'],
        vendors: ['anthropic'],
      })
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) => report(nodes[index % 2] as (typeof nodes)[0])),
    )
    assert.equal(outcomes.filter((outcome) => outcome === 'opened').length, 1)

    const answer = await ask(gateway.node.baseUrl, '/incidents/active')
    assertPublic(answer, 15)
    assert.doesNotMatch(answer.text, /hidden|breaker/)
    const [shown, ...none] = answer.json.incidents
    assert.deepEqual(none, [])
    assert.deepEqual(
      [shown.title, shown.severity, shown.models, shown.providers, shown.updated_at],
      [
        'Modelo indisponível: claude-haiku-4-5',
        'major',
        ['claude-haiku-4-5'],
        ['anthropic'],
        shown.started_at,
      ],
    )
    assert.match(shown.message, /^No momento este modelo não está respondendo\. /)

    const { db } = nodes[1] as (typeof nodes)[0]
    assert.equal(await reportBreakerClosed(db, { subject }), 'resolved')
    assert.equal(await reportBreakerClosed(db, { subject }), 'not_open')
    assert.deepEqual(await activeIncidents(), [])

    // Open again: it is another incident.
    assert.equal(await report(nodes[0] as (typeof nodes)[0]), 'opened')
    const [again] = await activeIncidents()
    assert.notEqual(again.id, shown.id)
    assert.equal(await reportBreakerClosed(db, { subject }), 'resolved')
  } finally {
    await Promise.all(opened.map(({ close }) => close()))
  }
  const past = (await listIncidents(gateway.database.db, { onlyOpen: false })).filter(
    (incident) => incident.subject === subject,
  )
  assert.deepEqual(
    past.map(({ updates }) => updates.map(({ status }) => status)),
    [
      ['opened', 'resolved'],
      ['opened', 'resolved'],
    ],
  )
})

test("a breaker's incident follows its models; an operator's text remains while they are the same", async () => {
  const { db } = gateway.database
  const subject = 'hidden-upstream'
  const report = (...modelIds: string[]): Promise<string> =>
    reportBreakerOpen(db, { nodeId: createId(), subject, modelIds, vendors: ['anthropic'] })
  await report('claude-haiku-4-5')
  const [first] = await activeIncidents()
  await cliText(
    'update',
    first.id,
    '--message',
    'O fabricante confirmou a falha.',
    '--severity',
    'critical',
  )
  const [written] = await activeIncidents()
  assert.equal(await report('claude-haiku-4-5', 'claude-haiku-4-5'), 'refreshed')
  assert.deepEqual(await activeIncidents(), [written])

  assert.equal(await report('claude-opus-4-5', 'claude-haiku-4-5'), 'refreshed')
  const [grown] = await activeIncidents()
  assert.deepEqual(
    [grown.id, grown.title, grown.severity, grown.models],
    [first.id, 'Modelos indisponíveis', 'critical', ['claude-haiku-4-5', 'claude-opus-4-5']],
  )
  assert.match(grown.message, /^No momento os modelos deste aviso não estão respondendo\. /)
  assert.ok(grown.updated_at > written.updated_at)

  // A breaker that is still open has the last word.
  assert.equal(await resolveIncident(db, SYSTEM, { id: first.id }), 'resolved')
  assert.equal(await report('claude-haiku-4-5'), 'opened')
  assert.notEqual((await activeIncidents())[0].id, first.id)
  await reportBreakerClosed(db, { subject })
})

test('an incident of silent nodes ends by itself; those of operators and of live nodes remain', async () => {
  const { db } = gateway.database
  const report = (subject: string): Promise<string> =>
    reportBreakerOpen(db, {
      nodeId: createId(),
      subject,
      modelIds: ['claude-haiku-4-5'],
      vendors: ['anthropic'],
    })
  const silentFor = (subject: string, seconds: number): Promise<unknown> =>
    sql`update incidents set seen_at = now() - make_interval(secs => ${seconds})
      where subject = ${subject} and resolved_at is null`.execute(db)
  const operator = await cliJson('open', '--title', 'T', '--message', 'M')
  await Promise.all(['dead', 'late', 'back'].map(report))
  await silentFor('dead', BREAKER_LEASE_SECONDS + 1)
  await silentFor('late', BREAKER_LEASE_SECONDS - 20)
  await silentFor('back', BREAKER_LEASE_SECONDS + 1)
  assert.equal(await report('back'), 'refreshed')

  // Every node sweeps.
  const swept = await Promise.all([expireBreakerIncidents(db), expireBreakerIncidents(db)])
  assert.deepEqual(swept.flat(), ['dead'])
  const open = await listIncidents(db, { onlyOpen: true })
  assert.deepEqual(open.map(({ subject }) => subject ?? 'operator').sort(), [
    'back',
    'late',
    'operator',
  ])
  assert.equal(await report('dead'), 'opened')

  await Promise.all(['dead', 'late', 'back'].map((subject) => reportBreakerClosed(db, { subject })))
  await cliText('resolve', operator.id)
  assert.deepEqual(await activeIncidents(), [])
})

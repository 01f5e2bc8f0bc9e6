import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { LIVE_ENVIRONMENT } from '../../../test/harness/live-environment.ts'
import { loadConfig } from '../config/config.ts'
import { SANDBOX_SOURCE } from '../../money/fx/fx-rates.ts'
import { MONTHS_AHEAD_MIN } from '../workers/ensure-months.ts'
import { runDoctor, type DatabaseFacts } from './run-doctor.ts'

type Facts = Parameters<typeof runDoctor>[0]

const DATABASE: DatabaseFacts = {
  version: 'PostgreSQL 18.1 on x86_64',
  fsync: 'on',
  full_page_writes: 'on',
  standbys: 1,
  synchronous_standby_names: '*',
  clock_ahead_ms: 12,
  max_connections: 200,
}

const SOUND: Facts = {
  config: loadConfig({ DATA_DIR: '.' }, '.'),
  database: DATABASE,
  disk: { freeBytes: 50 * 1024 ** 3, totalBytes: 100 * 1024 ** 3 },
  fxRate: {
    id: 1,
    rateE4: 52_000n,
    rateDate: '2026-01-05',
    bulletinAt: null,
    source: SANDBOX_SOURCE,
  },
  monthsAhead: MONTHS_AHEAD_MIN,
  oldSnapshots: [],
  readReplicas: [],
  priceDifferences: [],
  storedMode: 'sandbox',
  sandboxMoney: [],
}

function faultsOf(facts: Partial<Facts>): string[] {
  const findings = runDoctor({ ...SOUND, ...facts })
  return findings.flatMap(({ level, text }) => (level === 'fault' ? [text] : []))
}

test('a sound sandbox has no fault, and the warning that it is a sandbox', () => {
  const warnings = runDoctor(SOUND).filter(({ level }) => level === 'warn')
  assert.deepEqual(faultsOf({}), [])
  assert.ok(warnings.some(({ text }) => text.startsWith('sandbox mode')))
})

test('more workers than the connections of the database allow are a warning', () => {
  const findingsOf = (WORKERS: string) =>
    runDoctor({ ...SOUND, config: loadConfig({ DATA_DIR: '.', WORKERS }, '.') }).filter(
      ({ level, text }) => level === 'warn' && /connections/.test(text),
    )
  assert.deepEqual(findingsOf('1'), [])
  assert.deepEqual(findingsOf('11'), [])
  assert.match(
    findingsOf('16')[0]?.text ?? '',
    /^16 workers and their parent: up to 241 connections/,
  )
})

test('each fault of a database is reported alone', () => {
  const faults: [Partial<Facts>, RegExp][] = [
    [{ database: { ...DATABASE, fsync: 'off' } }, /fsync off/],
    [{ database: { ...DATABASE, full_page_writes: 'off' } }, /full_page_writes off/],
    [{ fxRate: undefined }, /no exchange rate/],
    [{ monthsAhead: -1 }, /no partition for this month/],
    [{ storedMode: 'live' }, /belongs to live mode since its first start/],
    [{ sandboxMoney: [{ customerId: 'c1' }] }, /money of the sandbox.*: c1$/],
    [{ sealed: { current: 0, previous: 0, unknown: 2 } }, /^2 secrets/],
  ]
  for (const [facts, text] of faults) {
    const found = faultsOf(facts)
    assert.equal(found.length, 1)
    assert.match(found[0] ?? '', text)
  }
})

test('live mode without address, operators, processor or standby, a full disk and a wrong clock are warnings with the remedy', () => {
  const config = loadConfig({ ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'k', DATA_DIR: '.' }, tmpdir())
  const database = { ...DATABASE, standbys: 0, clock_ahead_ms: -5_000 }
  const disk = { freeBytes: 1024 ** 3, totalBytes: 100 * 1024 ** 3 }
  const texts = runDoctor({ ...SOUND, config, storedMode: 'live', database, disk })
    .filter(({ level }) => level === 'warn')
    .map(({ text }) => text)
    .join('\n')
  for (const wanted of [
    /^PUBLIC_URL is not set: .*https:/m,
    /^ADMIN_EMAILS is not set: .*sign up/m,
    /^ASAAS_API_KEY is not set: .*customer credit/m,
    /^no standby/m,
    /differ by 5\.0 s/,
    /^1\.0 GiB of 100\.0 GiB/m,
  ])
    assert.match(texts, wanted)
})

test('a proxy in front that is not trusted is a warning with the remedy', () => {
  const warn = (environment: Record<string, string>): string => {
    const config = loadConfig(
      { ...LIVE_ENVIRONMENT, OPENAI_API_KEY: 'k', DATA_DIR: '.', ...environment },
      tmpdir(),
    )
    return runDoctor({ ...SOUND, config, storedMode: 'live' })
      .filter(({ level }) => level === 'warn')
      .map(({ text }) => text)
      .join('\n')
  }
  const PUBLIC_URL = 'https://api.example.com'
  assert.match(warn({ PUBLIC_URL }), /^TRUST_PROXY is not set, .*127\.0\.0\.1/m)
  assert.doesNotMatch(warn({ PUBLIC_URL, TRUST_PROXY: '127.0.0.1' }), /TRUST_PROXY/)
})

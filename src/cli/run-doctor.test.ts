import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../composition/config.ts'
import { SANDBOX_SOURCE } from '../fx/fx-rates.ts'
import { MONTHS_AHEAD_MIN } from '../workers/ensure-months.ts'
import { runDoctor } from './run-doctor.ts'

type Facts = Parameters<typeof runDoctor>[0]

const SOUND: Facts = {
  config: loadConfig({ DATA_DIR: '.' }, '.'),
  database: { version: 'PostgreSQL 18.1 on x86_64', fsync: 'on' },
  fxRate: {
    id: 1,
    rateE4: 52_000n,
    rateDate: '2026-01-05',
    bulletinAt: null,
    source: SANDBOX_SOURCE,
  },
  monthsAhead: MONTHS_AHEAD_MIN,
  oldSnapshots: [],
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

test('each fault of a database is reported alone', () => {
  const faults: [Partial<Facts>, RegExp][] = [
    [{ database: { version: 'PostgreSQL 18.1', fsync: 'off' } }, /fsync off/],
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

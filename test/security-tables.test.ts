/** docs/security.md is complete: each table with its growth and retention, and each limit as in the code; each guarantee has its tests. */
import assert from 'node:assert/strict'
import { BATCHES_MAX, KEPT_MAX, LINES_MAX } from '../src/customers/batches/batches.ts'
import { RESULT_BYTES_MAX } from '../src/customers/batches/batch-lines.ts'
import { FILE_DAYS } from '../src/customers/batches/batch-results.ts'
import {
  FILE_BYTES_MAX,
  FILES_MAX,
  STORED_BYTES_MAX as FILES_BYTES_MAX,
} from '../src/customers/batches/files.ts'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ALERTS_MAX } from '../src/deliveries/alerts/alerts.ts'
import { loadConfig } from '../src/app/config/config.ts'
import { OPEN_INVITATIONS_MAX } from '../src/customers/team-invitations.ts'
import { TEAM_MEMBERS_MAX } from '../src/customers/team-members.ts'
import { TEAMS_EVER_MAX, TEAMS_MAX } from '../src/customers/teams.ts'
import { KEYS_EVER_MAX, KEYS_MAX } from '../src/http/api-keys/make-api-key.ts'
import {
  ACCOUNT_FACTOR,
  WIDE_FACTOR,
  WRITE_COST,
  WRONG_KEY_COST,
} from '../src/http/rest/rest-limits.ts'
import {
  IDEMPOTENCY_BYTES_MAX,
  IDEMPOTENCY_KEYS_MAX,
} from '../src/platform/idempotency/idempotency-records.ts'
import { TOP_UPS_A_DAY } from '../src/money/payments/create-top-up.ts'
import { PAYMENT_METHODS_MAX } from '../src/money/payments/payment-methods.ts'
import { PROMPT_BYTES_MAX, PROMPTS_MAX } from '../src/customers/prompts/prompts.ts'
import {
  STORED_BYTES_MAX,
  STORED_DAYS_MAX,
  STORED_RESPONSES_MAX,
} from '../src/customers/stored-responses/store-response.ts'
import { WEBHOOKS_MAX } from '../src/deliveries/webhooks/webhook-endpoints.ts'
import { testNames } from './harness/test-names.ts'

const read = (path: string) => readFile(join(import.meta.dirname, '..', path), 'utf8')
const page = await read('docs/security.md')
const rows = page.split('\n').filter((line) => line.startsWith('| '))

function rowOf(start: string): string {
  const row = rows.find((line) => line.startsWith(`| ${start}`))
  assert.ok(row, `no row begins with ${start}`)
  return row
}

test('every table of the database says what makes it grow, what bounds it, and how long its rows stay', async () => {
  const schema = await read('src/platform/db/schema.sql')
  const tables = [...schema.matchAll(/^create (?:unlogged )?table (\w+)/gm)].flatMap(
    ([, name]) => name ?? [],
  )
  assert.ok(tables.length > 60)
  const listed = page
    .slice(page.indexOf('\n## Tables'))
    .split('\n')
    .flatMap((line) => /^\| `(\w+)` \|/.exec(line)?.[1] ?? [])
  assert.deepEqual(listed, tables.toSorted())
  for (const name of listed) {
    const cells = rowOf(`\`${name}\``).split('|').slice(1, -1)
    assert.equal(cells.length, 4, name)
    assert.ok(
      cells.every((cell) => cell.trim() !== ''),
      name,
    )
  }
})

test('the limits are those of the code', () => {
  const text = (count: number) => count.toLocaleString('en-US')
  const limits: Readonly<Record<string, readonly number[]>> = {
    '`alerts`': [ALERTS_MAX],
    '`api_keys`': [KEYS_MAX, KEYS_EVER_MAX],
    '`batch_lines`': [LINES_MAX, RESULT_BYTES_MAX / 1024 / 1024],
    '`batches`': [BATCHES_MAX, KEPT_MAX, FILE_DAYS],
    '`files`': [FILE_BYTES_MAX / 1024 / 1024, FILES_MAX, FILES_BYTES_MAX / 1024 / 1024, FILE_DAYS],
    '`idempotency_keys`': [IDEMPOTENCY_KEYS_MAX, IDEMPOTENCY_BYTES_MAX / 1024 / 1024],
    '`payment_methods`': [PAYMENT_METHODS_MAX],
    '`prompts`': [PROMPTS_MAX],
    '`prompt_versions`': [PROMPT_BYTES_MAX / 1024 / 1024],
    '`team_invitations`': [OPEN_INVITATIONS_MAX],
    '`team_members`': [TEAM_MEMBERS_MAX],
    '`stored_responses`': [STORED_RESPONSES_MAX, STORED_BYTES_MAX / 1024 / 1024, STORED_DAYS_MAX],
    '`teams`': [TEAMS_MAX, TEAMS_EVER_MAX],
    '`top_ups`': [TOP_UPS_A_DAY.max],
    '`webhook_endpoints`': [WEBHOOKS_MAX],
  }
  for (const [start, counts] of Object.entries(limits))
    for (const count of counts)
      assert.match(rowOf(start), new RegExp(`\\b${text(count)}\\b`), start)
  const config = loadConfig({}, tmpdir())
  const { restRequestsPerMinutePerIp: perIp, restRequestsPerMinutePerKey: perKey } = config
  assert.match(
    rowOf('REST requests'),
    new RegExp(
      `\\b${perIp} .* as ${WRONG_KEY_COST} \\| ${perKey} .* as ${WRITE_COST}; ${ACCOUNT_FACTOR} times`,
    ),
  )
  const { requestsPerMinutePerIp: callsPerIp, callsAtOnceMax } = config
  assert.match(rowOf('model calls'), new RegExp(`\\b${callsPerIp} .*; ${callsAtOnceMax} at once`))
  assert.equal(WIDE_FACTOR, 10, 'the page says ten times')
})

test('each guarantee names tests that exist', async () => {
  const table = await read('test/acceptance/guarantees.md')
  const guarantees = table.split('\n').flatMap((line) => {
    const [, place, text, tests] = line.split('|').map((cell) => cell.trim())
    return /^\d+$/.test(place ?? '') ? [{ place, text, tests: (tests ?? '').split('<br>') }] : []
  })
  assert.deepEqual(
    guarantees.map(({ place }) => Number(place)),
    Array.from({ length: 22 }, (_, index) => index + 1),
  )
  const missing: string[] = []
  for (const { text, tests } of guarantees) {
    assert.ok(text && tests.length > 0)
    for (const test of tests) {
      const [file = '', name = ''] = test.split(' › ')
      const names = testNames(await read(file))
      if (!names.has(name)) missing.push(test)
    }
  }
  assert.deepEqual(missing, [])
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planReads, type CallerIds } from './plan-reads.ts'
import type { Described, Parameter } from './read-operations.ts'

const ids: CallerIds = {
  promptId: 'the-prompt',
  sessionId: 'the-session',
  teamId: 'the-team',
  keyId: 'the-key',
  topUpId: 'the-top-up',
  refundId: 'the-refund',
  alertId: 'the-alert',
  webhookId: 'the-webhook',
  attemptId: 'the-attempt',
  customerId: 'the-customer',
  from: '2026-01-01',
  to: '2026-12-31',
}

function operation(path: string, ...parameters: Parameter[]): Described {
  return { path, parameters, isExport: false }
}

function inQuery(name: string, schema: Parameter['schema'] = { type: 'string' }): Parameter {
  return { name, in: 'query', schema }
}

test('an operation is asked with nothing said, and with the widest that its schema allows', () => {
  const days = inQuery('days', { type: 'integer', maximum: 365 })
  const { reads } = planReads([operation('/a', days, inQuery('from'))], ids)
  assert.deepEqual(
    reads.map(({ label, url }) => [label, url]),
    [
      ['default', '/a'],
      ['widest', '/a?days=365&from=2026-01-01'],
    ],
  )
})

test('ids are those of the caller, by the segment before them', () => {
  const { reads } = planReads([operation('/me/prompts/{id}/versions/{version}')], ids)
  assert.deepEqual(
    reads.map(({ url }) => url),
    ['/me/prompts/the-prompt/versions/1'],
  )
})

test('a list with a cursor is asked for its last page too', () => {
  const { paged } = planReads([operation('/a', inQuery('cursor'))], ids)
  assert.deepEqual(
    paged.map(({ path }) => path),
    ['/a'],
  )
})

test('a list is narrowed by each filter, in its widest window, to something rare and to nothing', () => {
  const { reads } = planReads([operation('/a', inQuery('from'), inQuery('session_id'))], ids)
  assert.deepEqual(
    reads.slice(2).map(({ url }) => url),
    ['/a?from=2026-01-01&session_id=the-session', '/a?from=2026-01-01&session_id=no-such-session'],
  )
})

test('a new operation cannot be forgotten: what nobody filled in is refused', () => {
  const unknownId = operation('/things/{id}')
  const unknownField = operation('/a', inQuery('mood'))
  assert.throws(() => planReads([unknownId, unknownField], ids), /things\/\{id\}[^]*"mood"/)
})

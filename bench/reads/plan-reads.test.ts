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

test('an operation is requested without parameters, and with the widest that its schema allows', () => {
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

test("ids are the caller's, chosen by the path segment before them", () => {
  const { reads } = planReads([operation('/me/prompts/{id}/versions/{version}')], ids)
  assert.deepEqual(
    reads.map(({ url }) => url),
    ['/me/prompts/the-prompt/versions/1'],
  )
})

test('the last page of a list with a cursor is requested too', () => {
  const { paged } = planReads([operation('/a', inQuery('cursor'))], ids)
  assert.deepEqual(
    paged.map(({ path }) => path),
    ['/a'],
  )
})

test('a list is filtered by each filter, in its widest window, to a rare value and to no match', () => {
  const { reads } = planReads([operation('/a', inQuery('from'), inQuery('session_id'))], ids)
  assert.deepEqual(
    reads.slice(2).map(({ url }) => url),
    ['/a?from=2026-01-01&session_id=the-session', '/a?from=2026-01-01&session_id=no-such-session'],
  )
})

test('a new operation cannot be forgotten: one without known values is refused', () => {
  const unknownId = operation('/things/{id}')
  const unknownField = operation('/a', inQuery('mood'))
  assert.throws(() => planReads([unknownId, unknownField], ids), /things\/\{id\}[^]*"mood"/)
})

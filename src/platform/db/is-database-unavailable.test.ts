import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { isDatabaseUnavailable } from './database-errors.ts'

function ofDatabase(code: string, severity = 'ERROR'): Error {
  return Object.assign(new pg.DatabaseError('no', 2, 'error'), { code, severity })
}

function ofSystem(syscall: string, code: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { syscall, code })
}

test('time-outs, full and stopping servers, and lost connections are a database that is away', () => {
  for (const code of ['57014', '55P03', '53300', '57P01', '57P03', '08006', '25P03', '40P01'])
    assert.ok(isDatabaseUnavailable(ofDatabase(code)), code)
  assert.ok(isDatabaseUnavailable(ofDatabase('55000', 'FATAL')), 'it takes no connections')
  for (const error of [
    new Error('Connection terminated unexpectedly'),
    new Error('timeout exceeded when trying to connect'),
    ofSystem('connect', 'ECONNREFUSED'),
    ofSystem('read', 'ECONNRESET'),
    new AggregateError([ofSystem('connect', 'ECONNREFUSED'), ofSystem('connect', 'ETIMEDOUT')]),
  ])
    assert.ok(isDatabaseUnavailable(error), error.message)
})

test('a fault of a statement or of this program is none', () => {
  for (const code of ['55000', '23505', '23514', '42601', '22P02', '54001', 'XX000'])
    assert.ok(!isDatabaseUnavailable(ofDatabase(code)), code)
  for (const thrown of [
    new TypeError('x is undefined'),
    new AggregateError([]),
    ofSystem('open', 'ENOENT'),
    ofSystem('connect', 'EACCES'),
    undefined,
    'Connection terminated',
  ])
    assert.ok(!isDatabaseUnavailable(thrown), String(thrown))
})

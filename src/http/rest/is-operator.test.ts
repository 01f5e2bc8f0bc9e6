import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { isOperator } from './is-operator.ts'

function requestFrom(remoteAddress: string, headers: Record<string, string> = {}): FastifyRequest {
  const all = { host: 'localhost:8080', ...headers }
  return { headers: all, socket: { remoteAddress } } as unknown as FastifyRequest
}

const LOCAL = { token: undefined, trustsThisMachine: true }

test('without a token, only callers on this machine are operators, under its own names', () => {
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    assert.ok(isOperator(requestFrom(address), LOCAL), address)
  assert.ok(!isOperator(requestFrom('192.0.2.1'), LOCAL))
  for (const headers of [
    { host: 'evil.example' },
    { host: 'localhost.evil.example' },
    { 'x-forwarded-for': '203.0.113.1' },
    { forwarded: 'for=203.0.113.1' },
  ] as Record<string, string>[])
    assert.ok(!isOperator(requestFrom('127.0.0.1', headers), LOCAL), JSON.stringify(headers))
})

test('where a proxy may stand before the server, this machine proves nothing: only the token does', () => {
  const access = { token: undefined, trustsThisMachine: false }
  assert.ok(!isOperator(requestFrom('127.0.0.1'), access))
  const authorization = 'Bearer ficha'
  assert.ok(isOperator(requestFrom('192.0.2.1', { authorization }), { ...access, token: 'ficha' }))
  assert.ok(!isOperator(requestFrom('127.0.0.1'), { ...access, token: 'ficha' }))
})

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { isOperator, operatorCookie, operatorTokenOf } from './is-operator.ts'

function requestWith(headers: Record<string, string>, query: object = {}): FastifyRequest {
  return { headers, query, socket: { remoteAddress: '127.0.0.1' } } as unknown as FastifyRequest
}

const ACCESS = { token: 'fi=cha+1' }

test('the token alone makes an operator: no address and no header of a client proves this machine', () => {
  const claimed = [{}, { host: 'localhost' }, { host: '127.0.0.1:8080' }, { host: '[::1]' }]
  for (const headers of claimed as Record<string, string>[])
    assert.ok(!isOperator(requestWith(headers), ACCESS), JSON.stringify(headers))
  for (const authorization of ['', 'Bearer ', 'Bearer fi', 'fi=cha+1', 'bearer fi=cha+1'])
    assert.ok(!isOperator(requestWith({ authorization }), ACCESS), authorization)
  assert.ok(isOperator(requestWith({ authorization: 'Bearer fi=cha+1' }), ACCESS))
})

test('a browser that opened the printed address has the cookie; another token makes none', () => {
  for (const token of ['', 'x', undefined, ['fi=cha+1']])
    assert.equal(operatorCookie(requestWith({}, { token }), ACCESS), undefined)
  const line = operatorCookie(requestWith({}, { token: ACCESS.token }), ACCESS) ?? ''
  assert.match(line, /; Path=\/mailbox; HttpOnly; SameSite=Lax$/)
  const [cookie = ''] = line.split(';')
  assert.ok(isOperator(requestWith({ cookie: `a=b; ${cookie}` }), ACCESS))
  for (const wrong of ['', `${cookie}x`, `x${cookie}`, cookie.split('=')[0] ?? ''])
    assert.ok(!isOperator(requestWith({ cookie: wrong }), ACCESS), wrong)
})

test('without a configured token all nodes with one key have the same, and others another', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)]
  assert.equal(operatorTokenOf('ficha', key), 'ficha')
  assert.equal(operatorTokenOf(undefined, key), operatorTokenOf(undefined, key))
  assert.notEqual(operatorTokenOf(undefined, key), operatorTokenOf(undefined, other))
  assert.ok(operatorTokenOf(undefined, key).length > 40)
})

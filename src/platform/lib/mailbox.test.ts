import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailboxOf } from './mailbox.ts'

test('spellings of one mailbox are one, and other mailboxes are others', () => {
  const one = ['ana@exemplo.com', 'ANA@Exemplo.com', 'ana+1@exemplo.com', 'ana+a+b@exemplo.com']
  assert.deepEqual([...new Set(one.map(mailboxOf))], ['ana@exemplo.com'])
  const google = ['ana.lima@gmail.com', 'analima@googlemail.com', 'a.n.a.lima+x@gmail.com']
  assert.deepEqual([...new Set(google.map(mailboxOf))], ['analima@gmail.com'])
  const others = ['ana.lima@exemplo.com', 'analima@exemplo.com', '+1@exemplo.com', '+2@exemplo.com']
  assert.equal(new Set(others.map(mailboxOf)).size, others.length)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createIpMatcher } from './ip-allowlist.ts'

test('a block of IPv6 admits no IPv4 address, and the other way round', () => {
  const six = createIpMatcher(['::/0'])
  assert.deepEqual([six.matches('2001:db8::1'), six.matches('203.0.113.9')], [true, false])
  assert.equal(six.matches('::ffff:203.0.113.9'), false)
  const four = createIpMatcher(['0.0.0.0/0'])
  assert.deepEqual([four.matches('2001:db8::1'), four.matches('203.0.113.9')], [false, true])
})

test('an IPv4 address in the form of IPv6 is that IPv4 address', () => {
  for (const entry of ['10.0.0.0/8', '::ffff:10.0.0.0/104']) {
    const matcher = createIpMatcher([entry])
    assert.deepEqual(
      ['10.1.2.3', '::ffff:10.1.2.3', '11.0.0.1'].map((ip) => matcher.matches(ip)),
      [true, true, false],
    )
  }
})

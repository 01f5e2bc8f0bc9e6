import assert from 'node:assert/strict'
import { test } from 'node:test'
import { subjectOfIp } from './add-body-reading.ts'

test('a machine with many IPv6 addresses has one share of the memory for bodies', () => {
  assert.equal(subjectOfIp('2001:db8:1:2::1'), subjectOfIp('2001:db8:1:2:ffff::9'))
  assert.notEqual(subjectOfIp('2001:db8:1:2::1'), subjectOfIp('2001:db8:1:3::1'))
  assert.notEqual(subjectOfIp('203.0.113.1'), subjectOfIp('203.0.113.2'))
  assert.equal(subjectOfIp('::ffff:203.0.113.1'), subjectOfIp('203.0.113.1'))
})

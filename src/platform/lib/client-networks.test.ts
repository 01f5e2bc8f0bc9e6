import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientNetworks } from './client-networks.ts'

test('an IPv4 address counts with its /24, an IPv6 address with its /64 and /48', () => {
  assert.deepEqual(clientNetworks('203.0.113.9'), { near: '203.0.113.9', wide: '203.0.113.0/24' })
  const near = '2001:db8:a:b::/64'
  assert.deepEqual(clientNetworks('2001:db8:a:b:1:2:3:4'), { near, wide: '2001:db8:a::/48' })
  for (const spelling of ['2001:db8:a:b::9', '2001:0DB8:000a:b::', '2001:db8:a:b::1%eth0'])
    assert.equal(clientNetworks(spelling).near, near, spelling)
  assert.notEqual(clientNetworks('2001:db8:a:c::1').near, near)
  assert.deepEqual(clientNetworks('::1'), { near: '0:0:0:0::/64', wide: '0:0:0::/48' })
})

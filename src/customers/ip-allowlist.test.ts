import assert from 'node:assert/strict'
import { BlockList } from 'node:net'
import { test } from 'node:test'
import fc from '../../test/harness/fast-check.ts'
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

const ipv4 = fc.ipV4()
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc
    .array(fc.constantFrom('0', '1', '8000', 'ffff'), { minLength: 8, maxLength: 8 })
    .map((groups) => groups.join(':')),
)

test('an address is in a list exactly if the platform finds it in one', () => {
  const families = [
    { family: 'ipv4', address: ipv4, bitsMax: 32 },
    { family: 'ipv6', address: ipv6, bitsMax: 128 },
  ] as const
  for (const { family, address, bitsMax } of families) {
    const block = fc.tuple(address, fc.integer({ min: 0, max: bitsMax }))
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 4 }), address, (blocks, asked) => {
        const list = new BlockList()
        for (const [network, bits] of blocks) list.addSubnet(network, bits, family)
        const matcher = createIpMatcher(blocks.map(([network, bits]) => `${network}/${bits}`))
        for (const ip of [asked, ...blocks.map(([network]) => network)])
          // The rules of mapped addresses are above.
          if (!ip.startsWith('::ffff:')) assert.equal(matcher.matches(ip), list.check(ip, family))
      }),
    )
  }
})

test('the lists of very many keys take little memory', () => {
  const listOf = (key: number) =>
    Array.from({ length: 100 }, (_, index) => `2001:db8:${key.toString(16)}::${index.toString(16)}`)
  const before = process.memoryUsage.rss()
  const matchers = Array.from({ length: 3_000 }, (_, key) => createIpMatcher(listOf(key)))
  assert.ok(matchers.every((matcher, key) => matcher.matches(`2001:db8:${key.toString(16)}::63`)))
  // With an object of the platform for each entry, it is more than 100 MB.
  const bytes = process.memoryUsage.rss() - before
  assert.ok(bytes < 60 * 1024 * 1024, `${bytes} bytes`)
})

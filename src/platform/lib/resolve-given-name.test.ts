/** Against a name server on this machine, which answers as its table says and stays silent about other names. */
import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { resolveGivenName } from './resolve-given-name.ts'

const TYPE_A = 1
const TYPE_AAAA = 28
const REFUSED = 5
const IPV4 = Buffer.from([192, 0, 1, 7])
const IPV6 = Buffer.from('26064700000000000000000000000007', 'hex')
/** By name: the addresses of each type, or the code of the refusal. */
const NAMES: Readonly<Record<string, Readonly<Record<number, Buffer[] | number>>>> = {
  'both.example': { [TYPE_A]: [IPV4, Buffer.from([127, 0, 0, 1])], [TYPE_AAAA]: [IPV6] },
  'four.example': { [TYPE_A]: [IPV4], [TYPE_AAAA]: [] },
  'six.example': { [TYPE_A]: REFUSED, [TYPE_AAAA]: [IPV6] },
  'empty.example': { [TYPE_A]: [], [TYPE_AAAA]: [] },
}

const asked: string[] = []
const server = createSocket('udp4')
let servers: string[]

server.on('message', (question, from) => {
  const labels: string[] = []
  let at = 12
  for (; question[at]; at += (question[at] as number) + 1)
    labels.push(question.subarray(at + 1, at + 1 + (question[at] as number)).toString())
  const type = question.readUInt16BE(at + 1)
  const name = labels.join('.')
  asked.push(name)
  const found = NAMES[name]?.[type]
  if (found === undefined) return
  const head = Buffer.from(question.subarray(0, 12))
  head.writeUInt16BE(0x8180 + (typeof found === 'number' ? found : 0), 2)
  const records = typeof found === 'number' ? [] : found
  head.writeUInt16BE(records.length, 6)
  head.writeUInt16BE(0, 10)
  const answers = records.map((address) => {
    const record = Buffer.alloc(12)
    record.writeUInt16BE(0xc00c, 0)
    record.writeUInt16BE(type, 2)
    record.writeUInt16BE(1, 4)
    record.writeUInt16BE(address.length, 10)
    return Buffer.concat([record, address])
  })
  server.send(Buffer.concat([head, question.subarray(12, at + 5), ...answers]), from.port)
})
before(async () => {
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  servers = [`127.0.0.1:${server.address().port}`]
})
after(() => server.close())

async function addressesOf(name: string): Promise<string[]> {
  return (await resolveGivenName(name, undefined, servers)).map(({ address }) => address)
}

test('a name has all its addresses of both kinds, and one kind is enough', async () => {
  assert.deepEqual(await addressesOf('both.example'), ['192.0.1.7', '127.0.0.1', '2606:4700::7'])
  assert.deepEqual(await addressesOf('four.example'), ['192.0.1.7'])
  assert.deepEqual(await addressesOf('six.example'), ['2606:4700::7'])
  await assert.rejects(addressesOf('empty.example'), { code: 'ENODATA' })
})

test('silent names keep no other name waiting, and end with the signal', async () => {
  const leaving = new AbortController()
  let ended = 0
  const names = Array.from({ length: 20 }, (_, number) => `silent-${number}.example`)
  const silent = names.map((name) =>
    assert
      .rejects(resolveGivenName(name, leaving.signal, servers), { code: 'ECANCELLED' })
      .finally(() => (ended += 1)),
  )
  while (!names.every((name) => asked.includes(name)))
    await new Promise((resolve) => setTimeout(resolve, 5))
  // As the connections to upstreams and to the database resolve their names.
  await lookup('localhost')
  assert.deepEqual(await addressesOf('four.example'), ['192.0.1.7'])
  assert.equal(ended, 0)
  leaving.abort()
  await Promise.all(silent)
})

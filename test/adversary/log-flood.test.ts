/** What anybody, without a key, can make a node write while its database is away. */
import assert from 'node:assert/strict'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { askChat, sound } from '../http/gateway-under-test.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { startTestNode } from '../harness/test-node.ts'

test('G1 a flood of calls without a database writes a bounded log', async () => {
  const database = await createTestDatabase()
  const url = new URL(database.databaseUrl.replace(/@\//, '@placeholder/'))
  const target = url.searchParams.has('host')
    ? { path: `${url.searchParams.get('host')}/.s.PGSQL.${url.port || '5432'}` }
    : { host: url.hostname, port: Number(url.port || '5432') }
  let refuses = false
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    if (refuses) return void near.destroy()
    const far = connect(target as never)
    for (const end of [near, far]) {
      sockets.add(end)
      end.on('error', () => {})
      end.on('close', () => (near.destroy(), far.destroy()))
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const { secret } = await seedCustomer(database.db, { balanceBrl: '100' })
  const node = await startTestNode({ databaseUrl: url.href })
  try {
    assert.equal((await askChat(node.baseUrl, secret, sound())).status, 200)
    refuses = true
    for (const socket of sockets) socket.destroy()
    await sleep(500)
    const CALLS = 1_000
    const measure = async (name: string, key: string | undefined, body: unknown): Promise<number> => {
      const before = node.log.length
      let asked = 0
      const statuses = new Map<number, number>()
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          while (asked++ < CALLS) {
            const { status } = await askChat(node.baseUrl, key, body)
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
          }
        }),
      )
      await sleep(300)
      const lines = node.log.slice(before)
      const bytes = lines.reduce((sum, line) => sum + line.length, 0)
      const events = Map.groupBy(lines, (line) => /"event":"(\w+)"/.exec(line)?.[1])
      console.log('G1', name, Object.fromEntries(statuses), { bytesPerCall: Math.round(bytes / CALLS) }, [...events].map(([event, some]) => `${event} ${some.length}`))
      return lines.length
    }
    const noKey = await measure('no key', undefined, sound())
    const good = await measure('good key', secret, sound())
    assert.ok(noKey < 200 && good < 200, `${noKey} and ${good} lines for ${CALLS} calls each`)
  } finally {
    refuses = false
    await node.stop('SIGKILL')
    await node.remove()
    server.close()
    for (const socket of sockets) socket.destroy()
    await database.drop()
  }
})

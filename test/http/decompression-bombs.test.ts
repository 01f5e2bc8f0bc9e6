// deep: an attack
/** Bodies of a few bytes that decompress to megabytes. Those of one customer do not delay the compressed bodies of others. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { ask, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { seedCustomer } from '../harness/test-database.ts'

const BOMBS = 30
const CALLS = 5

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})

after(() => gateway.stop())

test('while one customer sends bombs, the compressed bodies of others are read', async () => {
  const { baseUrl } = gateway.node
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '1' })
  const send = (of: string, coding: string, body: Buffer) =>
    ask(baseUrl, '/chat/completions', {
      secret: of,
      body,
      headers: { 'content-encoding': coding },
    })
  const bomb = brotliCompressSync(Buffer.alloc(19_900_000, ' '))
  let read = 0
  const leaving = new AbortController()
  const bombs = Array.from({ length: BOMBS }, async () => {
    await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-encoding': 'br' },
      body: new Uint8Array(bomb),
      signal: leaving.signal,
    })
    read += 1
  })
  for (const each of bombs) each.catch(() => {})
  await Promise.race(bombs)
  const small = gzipSync(JSON.stringify(sound()))
  for (let call = 0; call < CALLS; call++)
    assert.equal((await send(gateway.secret, 'gzip', small)).status, 200)
  leaving.abort()
  assert.ok(read <= BOMBS / 2, `${read} of ${BOMBS} bombs were read during ${CALLS} calls`)
})

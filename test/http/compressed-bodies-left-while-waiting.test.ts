// deep: an attack
/** Compressed bodies that wait for their customer's turn, and clients that do not wait for it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { BY_OPERATOR, ask } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

const BOMBS = 20
const WAITING = 4
const BYTES = 5_000_000

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})

after(() => gateway.stop())

async function bodyBytes(): Promise<number> {
  const { text } = await ask(new URL(gateway.node.baseUrl).origin, '/metrics', BY_OPERATOR)
  return Number(/^catraca_body_bytes (\d+)$/m.exec(text)?.[1])
}

test('compressed bodies whose clients left while they waited count until their turn', async () => {
  const leaving = new AbortController()
  const send = (coding: string, body: Buffer, signal?: AbortSignal): Promise<Response> =>
    fetch(`${gateway.node.baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.secret}`, 'content-encoding': coding },
      body: new Uint8Array(body),
      ...(signal ? { signal } : {}),
    })
  const ending = new AbortController()
  // A few bytes each; the customer's next body waits for a second after each of them.
  const bomb = brotliCompressSync(Buffer.alloc(19_900_000, ' '))
  const bombs = Array.from({ length: BOMBS }, () => send('br', bomb, ending.signal))
  for (const each of bombs) each.catch(() => {})
  await Promise.race(bombs)
  const large = gzipSync(randomBytes(BYTES), { level: 1 })
  const sent = Array.from({ length: WAITING }, () => send('gzip', large, leaving.signal))
  for (const each of sent) each.catch(() => {})
  while ((await bodyBytes()) < WAITING * BYTES) await sleep(5)
  leaving.abort()
  await Promise.allSettled(sent)
  // By then the node has seen that they left.
  for (let look = 0; look < 20; look++) await bodyBytes()
  const counted = await bodyBytes()
  assert.ok(counted >= WAITING * BYTES, `${counted} bytes`)

  // Nothing is counted for ever.
  ending.abort()
  while ((await bodyBytes()) > 0) await sleep(50)
})

/**
 * Normal clients of the gateway, in a separate process: `node normal.ts <port> <key> <seconds>`. Prints the milliseconds
 * of each answered call, and what the others got instead.
 */
import { setTimeout as sleep } from 'node:timers/promises'

export interface NormalCalls {
  readonly ms: readonly number[]
  readonly refused: readonly string[]
}

const CALLERS = 4
const PAUSE_MS = 20
const [port, secret, seconds] = process.argv.slice(2)
const ms: number[] = []
const refused: string[] = []
const body = JSON.stringify({
  model: 'good',
  max_tokens: 5,
  messages: [{ role: 'user', content: 'Oi! Tudo bem?' }],
})
const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
const untilMs = performance.now() + Number(seconds) * 1_000

async function callAgain(): Promise<void> {
  while (performance.now() < untilMs) {
    const startedAtMs = performance.now()
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
    }).then(
      async (got) => ({ status: got.status, text: await got.text() }),
      (error: unknown) => ({ status: 0, text: String((error as Error).cause ?? error) }),
    )
    if (answer.status === 200) ms.push(Math.round((performance.now() - startedAtMs) * 100) / 100)
    else refused.push(`${answer.status} ${answer.text.slice(0, 200)}`)
    await sleep(PAUSE_MS)
  }
}

await Promise.all(Array.from({ length: CALLERS }, callAgain))
process.stdout.write(JSON.stringify({ ms, refused } satisfies NormalCalls))

/** Checks before the measurements that the target really relays the upstream's answer. */
import assert from 'node:assert/strict'
import { answerText, requestBodies, type Mode } from './chat-request.ts'
import type { AnyTarget } from './target.ts'

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[]
  readonly usage: { readonly completion_tokens: number }
}

interface Chunk {
  readonly choices: readonly { readonly delta: { readonly content?: string } }[]
}

/** The number of requests that `checkTarget` makes: they are charged like any other. */
export const checkRequests = 2

/** Returns the body size of each kind of answer, in bytes. Throws for an unexpected answer. */
export async function checkTarget(target: AnyTarget): Promise<Record<Mode, number>> {
  const plain = await ask(target, 'plain')
  const answer = JSON.parse(plain) as Answer
  assert.equal(answer.choices[0]?.message.content, answerText, `${target.name}: plain answer`)
  assert.equal(answer.usage.completion_tokens, 20, `${target.name}: usage`)

  const stream = await ask(target, 'stream')
  assert.match(stream, /data: \[DONE\]\n\n$/, `${target.name}: the end of the stream`)
  assert.equal(streamedText(stream), answerText, `${target.name}: streamed answer`)
  return { plain: Buffer.byteLength(plain), stream: Buffer.byteLength(stream) }
}

async function ask(target: AnyTarget, mode: Mode): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${target.port}${target.path}`, {
    method: 'POST',
    headers: { ...target.headers, 'content-type': 'application/json' },
    body: requestBodies[mode],
    signal: AbortSignal.timeout(10_000),
  })
  const text = await response.text()
  assert.equal(response.status, 200, `${target.name}: ${mode}: ${text.slice(0, 500)}`)
  return text
}

function streamedText(events: string): string {
  return events
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => (JSON.parse(event.slice(6)) as Chunk).choices[0]?.delta.content ?? '')
    .join('')
}

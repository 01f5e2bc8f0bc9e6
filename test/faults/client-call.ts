/** One call of a client, and everything that the client can know about how it ended. */
import { randomUUID } from 'node:crypto'
import type { BalancedRequest, Balancer } from './balancer.ts'

export interface ClientCall {
  readonly requestId: string
  readonly customerId: string
  readonly keyId: string
  /** The last one that it was sent to. */
  readonly node: number
  readonly isBalanced: boolean
  readonly model: string
  readonly isStream: boolean
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly status: number | undefined
  readonly ending:
    | 'whole'
    /** A 200 whose end did not arrive, or a stream that ended with an error. */
    | 'part'
    /** Another status, with its body: the service refused the call. */
    | 'refused'
    /** The connection broke, or was never made. */
    | 'dropped'
    /** The client left before the end. */
    | 'left'
  /** The cost in the answer, in BRL. */
  readonly costBilledBrl: string | undefined
  /** The error of a connection that broke or was never made. */
  readonly error: string | undefined
  /** Received chunks that contain text. */
  readonly deltas: number
}

export interface Asked {
  /** A node, or the balancer, which chooses one. */
  readonly to: { readonly node: number; readonly baseUrl: string } | Balancer
  readonly customerId: string
  readonly keyId: string
  readonly secret: string
  readonly model: string
  readonly isStream: boolean
  readonly sessionId: string | undefined
  /** The client leaves after this time. */
  readonly patienceMs: number
}

export const MAX_TOKENS = 200

export async function callAsClient(asked: Asked): Promise<ClientCall> {
  const requestId = randomUUID()
  const startedAtMs = Date.now()
  let status: number | undefined
  let text = ''
  let error: string | undefined
  let node = 'node' in asked.to ? asked.to.node : -1
  const leaving = new AbortController()
  const timer = setTimeout(() => leaving.abort(), asked.patienceMs)
  try {
    const answer = await send(asked, {
      headers: {
        authorization: `Bearer ${asked.secret}`,
        'content-type': 'application/json',
        'x-svc-request-id': requestId,
        ...(asked.sessionId === undefined ? {} : { 'x-svc-session-id': asked.sessionId }),
      },
      body: JSON.stringify(bodyOf(asked, requestId)),
      signal: leaving.signal,
      onNode: (chosen) => (node = chosen),
    })
    status = answer.status
    const decoder = new TextDecoder()
    for await (const bytes of answer.body) text += decoder.decode(bytes, { stream: true })
  } catch (thrown) {
    const { cause, code, message } = thrown as Error & { cause?: { code?: string }; code?: string }
    error = cause?.code ?? code ?? message
  } finally {
    clearTimeout(timer)
  }
  const { customerId, keyId, model, isStream } = asked
  return {
    requestId,
    customerId,
    keyId,
    node,
    isBalanced: 'send' in asked.to,
    model,
    isStream,
    startedAtMs,
    endedAtMs: Date.now(),
    status,
    error,
    ending: endingOf({
      status,
      text,
      hasFailed: error !== undefined,
      isStream,
      hasLeft: leaving.signal.aborted,
    }),
    costBilledBrl: /"cost_billed_brl":([0-9.]+)/.exec(text)?.[1],
    deltas: isStream ? text.split('"content":').length - 1 : 0,
  }
}

async function send(
  { to }: Asked,
  passed: Omit<BalancedRequest, 'path'>,
): Promise<{ status: number; body: AsyncIterable<Uint8Array> | readonly Uint8Array[] }> {
  if ('send' in to) {
    const answer = await to.send({ ...passed, path: '/v1/chat/completions' })
    return { status: answer.statusCode ?? 0, body: answer }
  }
  const { headers, body, signal } = passed
  const url = `${to.baseUrl}/chat/completions`
  const answer = await fetch(url, { method: 'POST', headers, body, signal })
  return { status: answer.status, body: answer.body ?? [] }
}

function endingOf(got: {
  status: number | undefined
  text: string
  hasFailed: boolean
  isStream: boolean
  hasLeft: boolean
}): ClientCall['ending'] {
  const { status, text, isStream } = got
  const isEnd = isStream ? text.endsWith('data: [DONE]\n\n') : !got.hasFailed
  if (status === 200 && isEnd) return 'whole'
  if (got.hasLeft) return 'left'
  if (status === undefined) return 'dropped'
  if (status !== 200) return got.hasFailed ? 'dropped' : 'refused'
  return 'part'
}

function bodyOf({ model, isStream }: Asked, requestId: string): object {
  return {
    model,
    max_tokens: MAX_TOKENS,
    messages: [{ role: 'user', content: `Conte até dez, chamada ${requestId}.` }],
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  }
}

/** Clients that call without pause and record each answer under a separate id. */
import { randomUUID } from 'node:crypto'

export interface Received {
  readonly requestId: string
  /** The end of the answer was received: the whole JSON, or `[DONE]`. */
  readonly isWhole: boolean
  /** As the answer's own text says it, if it did. */
  readonly costBilledBrl: string | undefined
  readonly status: number | undefined
  readonly ms: number
}

export interface LoadClients {
  /** Lets the calls under way end, and returns all that was received. */
  stop(): Promise<Received[]>
  readonly wholeSoFar: number
  readonly soFar: readonly Received[]
}

export function startLoadClients(options: {
  count: number
  baseUrls: () => readonly string[]
  secret: string
  models: readonly string[]
}): LoadClients {
  const received: Received[] = []
  const stopping = new AbortController()

  async function run(index: number): Promise<void> {
    for (let call = index; !stopping.signal.aborted; call++) {
      const urls = options.baseUrls()
      const url = urls[call % urls.length] as string
      const got = await ask(
        url,
        options.secret,
        options.models[call % options.models.length] as string,
        call % 2 === 0,
      )
      received.push(got)
      // A node that is down refuses at once: asking it thousands of times proves nothing.
      if (got.status !== 200) await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  const clients = Array.from({ length: options.count }, (_, index) => run(index))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(clients)
      return received
    },
    soFar: received,
    get wholeSoFar() {
      return received.filter((each) => each.isWhole).length
    },
  }
}

async function ask(
  baseUrl: string,
  secret: string,
  model: string,
  isStream: boolean,
): Promise<Received> {
  const requestId = randomUUID()
  const startedAtMs = performance.now()
  let status: number | undefined
  let text = ''
  try {
    const answer = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'x-svc-request-id': requestId,
      },
      body: JSON.stringify({
        model,
        max_tokens: 200,
        messages: [{ role: 'user', content: `Conte até dez, chamada ${requestId.slice(0, 8)}.` }],
        ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
      }),
      signal: AbortSignal.timeout(40_000),
    })
    status = answer.status
    text = await answer.text()
  } catch {
    return {
      requestId,
      isWhole: false,
      costBilledBrl: undefined,
      status,
      ms: performance.now() - startedAtMs,
    }
  }
  const isWhole =
    status === 200 && (isStream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}'))
  return {
    requestId,
    isWhole,
    costBilledBrl: /"cost_billed_brl":([0-9.]+)/.exec(text)?.[1],
    status,
    ms: performance.now() - startedAtMs,
  }
}

/** Clients that call without pause, in each format, and record each answer under a separate id. */
import { randomUUID } from 'node:crypto'
import { wav } from './media-calls.ts'

/** A call that the clients make again and again. */
export interface LoadCall {
  readonly model: string
  readonly format: 'chat' | 'messages' | 'responses' | 'transcripts'
  /** It asks for a search of the web. */
  readonly searches?: boolean
}

export interface Received {
  readonly requestId: string
  readonly format: LoadCall['format']
  /** The end of the answer was received: the whole JSON, or the last event of the format. */
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
  /** Names of models, for chat completions. */
  calls: readonly (string | LoadCall)[]
}): LoadClients {
  const calls = options.calls.map((each): LoadCall =>
    typeof each === 'string' ? { model: each, format: 'chat' } : each,
  )
  const received: Received[] = []
  const stopping = new AbortController()

  async function run(index: number): Promise<void> {
    for (let call = index; !stopping.signal.aborted; call++) {
      const urls = options.baseUrls()
      const url = urls[call % urls.length] as string
      const got = await askLoadCall(
        url,
        options.secret,
        calls[call % calls.length] as LoadCall,
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

const PATHS = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
  transcripts: '/audio/transcriptions',
} as const
const TOKENS_MAX = 200
/** How the stream of a whole answer ends. */
const ENDS: Readonly<Record<LoadCall['format'], RegExp>> = {
  chat: /data: \[DONE\]\n\n$/,
  messages: /event: message_stop\ndata: .*\n\n$/,
  responses: /event: response\.(?:completed|incomplete)\ndata: .*\n\n$/,
  transcripts: /data: \{"type":"transcript\.text\.done".*\n\n$/,
}

const SOUND = new Blob([new Uint8Array(wav(1))])

function bodyOf(call: LoadCall, text: string, stream: boolean): string | FormData {
  if (call.format !== 'transcripts')
    return JSON.stringify(jsonOf({ ...call, format: call.format }, text, stream))
  const form = new FormData()
  form.append('model', call.model)
  form.append('stream', String(stream))
  form.append('file', SOUND, 'a.wav')
  return form
}

function jsonOf(
  {
    model,
    format,
    searches,
  }: LoadCall & { readonly format: Exclude<LoadCall['format'], 'transcripts'> },
  text: string,
  stream: boolean,
): object {
  const messages = [{ role: 'user', content: searches ? `${text}\npesquise catracas` : text }]
  const tools = (tool: object): object => (searches ? { tools: [tool] } : {})
  switch (format) {
    case 'chat':
      return {
        model,
        max_tokens: TOKENS_MAX,
        messages,
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
      }
    case 'messages': {
      const search = { type: 'web_search_20260209', name: 'web_search', max_uses: 2 }
      return { model, max_tokens: TOKENS_MAX, messages, stream, ...tools(search) }
    }
    case 'responses': {
      const search = { type: 'web_search' }
      return { model, max_output_tokens: TOKENS_MAX, input: messages, stream, ...tools(search) }
    }
  }
}

/** Makes one call, and records what was received until its end or the end of the node. */
export async function askLoadCall(
  baseUrl: string,
  secret: string,
  call: LoadCall,
  isStream: boolean,
): Promise<Received> {
  const requestId = randomUUID()
  const { format } = call
  const startedAtMs = performance.now()
  let status: number | undefined
  let text: string | undefined
  try {
    const answer = await fetch(`${baseUrl}${PATHS[format]}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        ...(format === 'transcripts' ? {} : { 'content-type': 'application/json' }),
        'x-svc-request-id': requestId,
      },
      body: bodyOf(call, `Conte até dez, chamada ${requestId.slice(0, 8)}.`, isStream),
      signal: AbortSignal.timeout(40_000),
    })
    status = answer.status
    text = await answer.text()
  } catch {
    // The node is gone.
  }
  const isEnded = text !== undefined && (isStream ? ENDS[format].test(text) : text.endsWith('}'))
  return {
    requestId,
    format,
    isWhole: status === 200 && isEnded,
    costBilledBrl: /"cost_billed_brl":([0-9.]+)/.exec(text ?? '')?.[1],
    status,
    ms: performance.now() - startedAtMs,
  }
}

/**
 * An upstream in the chat-completions format that behaves for each model as a test scripts: it answers, fails in one of
 * many ways, or waits. It records its requests.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SeenCall {
  readonly path: string
  readonly model: string
  readonly headers: IncomingHttpHeaders
  /** As received; `body` is set if it is JSON. */
  readonly text: string
  readonly body: any
  /** By `performance.now()`. */
  readonly atMs: number
  /** Resolves when the gateway closes the connection before the answer has ended. */
  readonly gone: Promise<void>
}

/** The handling of one call. */
export type Behaviour = (call: SeenCall, response: ServerResponse) => void | Promise<void>

export interface ScriptedUpstream {
  /** With the version segment. */
  readonly baseUrl: string
  /** Calls for this model, in their order. */
  callsOf(model: string): readonly SeenCall[]
  /** Scripts the next calls for this model, one behaviour each; the last one is repeated for ever. */
  play(model: string, ...behaviours: readonly Behaviour[]): void
  close(): Promise<void>
}

export async function startScriptedUpstream(): Promise<ScriptedUpstream> {
  const calls = new Map<string, SeenCall[]>()
  const scripts = new Map<string, Behaviour[]>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    const gone = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      const body = text.startsWith('{') ? JSON.parse(text) : undefined
      const model = body?.model ?? /name="model"\r\n\r\n(.*)\r\n/.exec(text)?.[1] ?? ''
      const { url: path = '', headers } = request
      const call = { path, model, headers, text, body, atMs: performance.now(), gone }
      calls.set(model, [...(calls.get(model) ?? []), call])
      const script = scripts.get(model) ?? []
      const behaviour = (script.length > 1 ? script.shift() : script[0]) ?? good
      Promise.resolve(behaviour(call, response)).catch((error: unknown) =>
        response.destroy(error as Error),
      )
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    callsOf: (model) => calls.get(model) ?? [],
    play: (model, ...behaviours) => void scripts.set(model, [...behaviours]),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The usage that every successful answer reports. */
export const GOOD_USAGE = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 }
export const GOOD_TEXT = 'Tudo certo por aqui.'

const SSE = { 'content-type': 'text/event-stream' }
const JSON_TYPE = { 'content-type': 'application/json' }

/** Answers every request. */
export const good: Behaviour = ({ path, body }, response) => {
  if (path.endsWith('/embeddings')) {
    const data = [{ index: 0, embedding: [0.25, -0.5] }]
    return void response.writeHead(200, JSON_TYPE).end(JSON.stringify({ data, usage: GOOD_USAGE }))
  }
  if (path.endsWith('/transcriptions')) {
    const answer = { text: GOOD_TEXT, usage: { type: 'duration', seconds: 7 } }
    return void response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer))
  }
  if (body.stream !== true) {
    const message = { role: 'assistant', content: GOOD_TEXT }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return void response
      .writeHead(200, JSON_TYPE)
      .end(JSON.stringify({ choices, usage: GOOD_USAGE }))
  }
  response.writeHead(200, SSE)
  for (const word of GOOD_TEXT.split(/(?<= )/)) response.write(chunkOf({ content: word }))
  response.write(chunkOf({}, 'stop'))
  response.end(`${eventOf({ choices: [], usage: GOOD_USAGE })}data: [DONE]\n\n`)
}

/** An error as providers send them. */
export function status(code: number, headers: Record<string, string> = {}): Behaviour {
  const body = JSON.stringify({ error: { message: 'Zephyr says no.', type: 'zephyr_error' } })
  return (_call, response) => void response.writeHead(code, { ...JSON_TYPE, ...headers }).end(body)
}

export const hang: Behaviour = () => {}

export const cut: Behaviour = (_call, response) => void response.destroy()

/** The head of a success, and then the end of the connection. */
export const cutAfterHead: Behaviour = ({ body }, response) => {
  response.writeHead(200, body.stream === true ? SSE : JSON_TYPE).flushHeaders()
  setImmediate(() => response.destroy())
}

/** The head of a success, and then nothing more. */
export const stallAfterHead: Behaviour = ({ body }, response) => {
  response.writeHead(200, body.stream === true ? SSE : JSON_TYPE).flushHeaders()
}

/** A 200 that contains an error: as the first event of a stream, or as the answer. */
export const errorInBody: Behaviour = ({ body }, response) => {
  const answer = { error: { message: 'Zephyr is overloaded.', type: 'overloaded_error' } }
  if (body.stream !== true)
    return void response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer))
  response.writeHead(200, SSE).end(eventOf(answer))
}

/** A page of something in between. */
export const page: Behaviour = (_call, response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Zephyr portal</html>')

/** Has the right content type, and is not JSON. */
export const garbage: Behaviour = ({ body }, response) => {
  if (body.stream !== true) return void response.writeHead(200, JSON_TYPE).end('{"choices":[{')
  response.writeHead(200, SSE).end('data: zephyr}{\n\n')
}

/** A success without anything in it. */
export const empty: Behaviour = ({ body }, response) => {
  if (body.stream !== true) return void response.writeHead(200, JSON_TYPE).end('{}')
  response.writeHead(200, SSE).end('data: [DONE]\n\n')
}

/** Some words, and then the end of the connection. */
export const cutInTheMiddle: Behaviour = async (_call, response) => {
  response.writeHead(200, SSE)
  for (const word of ['Era ', 'uma ', 'vez ']) {
    await new Promise<void>((resolve) => {
      response.write(chunkOf({ content: word }), () => resolve())
    })
  }
  response.destroy()
}

/** Waits before it does something else. */
export function afterMs(ms: number, behaviour: Behaviour = good): Behaviour {
  return (call, response) => void setTimeout(() => void behaviour(call, response), ms)
}

/** Lets calls wait for each other, and does it with all of them then. */
export function whenAllAreThere(count: number, behaviour: Behaviour): Behaviour {
  const waiting: (() => void)[] = []
  return (call, response) => {
    waiting.push(() => void behaviour(call, response))
    if (waiting.length >= count) for (const answer of waiting.splice(0)) answer()
  }
}

export interface Gate {
  /** Waits until the gate is open, and answers then. */
  readonly behaviour: Behaviour
  open(): void
  /** The most calls that waited at once. */
  readonly waitedMax: number
}

export function createGate(): Gate {
  let isOpen = false
  let waitedMax = 0
  const waiting = new Set<() => void>()
  return {
    behaviour(call, response) {
      if (isOpen) return good(call, response)
      waiting.add(() => void good(call, response))
      waitedMax = Math.max(waitedMax, waiting.size)
    },
    open() {
      isOpen = true
      for (const answer of waiting) answer()
      waiting.clear()
    },
    get waitedMax() {
      return waitedMax
    },
  }
}

export function eventOf(body: unknown): string {
  return `data: ${JSON.stringify(body)}\n\n`
}

function chunkOf(delta: object, finishReason: string | null = null): string {
  return eventOf({ choices: [{ index: 0, delta, finish_reason: finishReason }] })
}

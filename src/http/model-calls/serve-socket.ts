/**
 * Serves a WebSocket of the Responses format: each message of its client is a call, which passes what a request over HTTP
 * passes, one after the other. https://developers.openai.com/api/docs/guides/websocket-mode
 */
import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { preparedResponse } from '../../gateway/calls/chat/formats/responses/response-events.ts'
import type { CheckCaller } from '../../gateway/calls/check-caller.ts'
import { customerSubject, keySubject } from '../../gateway/calls/limits.ts'
import type { IncomingCaller } from '../../gateway/calls/refuse-call.ts'
import { refusalOfExcess, refusals } from '../../gateway/calls/refusal.ts'
import { createId, idTailOf } from '../../platform/lib/ids.ts'
import { BODY_BOUNDS, findJsonExcess } from '../../platform/lib/bound-json.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import type { Held } from '../../platform/admission/share.ts'
import type { ModelCallDeps, ResponseConversation, saidInHeaders } from './model-call-route.ts'
import { PACED_FROM_BYTES } from '../rest/paced-from-bytes.ts'
import type { EndReason, ResponseSocket } from './response-sockets.ts'
import {
  createSocketClient,
  errorMessage,
  untilDrained,
  type SocketClient,
} from './socket-client.ts'

/** As for bodies over HTTP: the number of connections bounds these. */
const UNCOUNTED_BYTES = 16 * 1024
/** Pings and pongs are no part of a message. */
const CONTROL_BYTES_MAX = 1_024
/** Messages that wait behind the one that is served; the connection is not read while one does. */
const WAITING_MAX = 16

/** What the request for the connection says of all of its calls. */
export type SocketCaller = Pick<IncomingCaller, 'authorization' | 'ip'> &
  ReturnType<typeof saidInHeaders> & {
    readonly customerId: string
    readonly origin: string
  }

interface Message {
  readonly data: Buffer
  readonly held: Held
}

const CLOSES: Readonly<Record<EndReason, readonly [code: number, reason: string]>> = {
  idle: [1000, 'idle'],
  old: [1000, 'too old'],
  closing: [1001, 'closing'],
}

type Deps = Pick<ModelCallDeps, 'bodies' | 'pace' | 'log' | 'limits'> & {
  readonly checkCaller: CheckCaller
}

/** Serves the connection until it ends. */
export function serveSocket(
  deps: Deps,
  ws: WebSocket,
  socket: Socket,
  caller: SocketCaller,
  conversation: ResponseConversation,
): ResponseSocket {
  const openedAtMs = performance.now()
  const waiting: Message[] = []
  const open = (): Held => deps.bodies.open(customerSubject(caller.customerId))
  let arriving = open()
  let arrivedBytes = 0
  let arrivingSinceMs: number | undefined
  let idleSinceMs: number | undefined = openedAtMs
  let current: SocketClient | undefined
  let isThere = true

  // Before the library takes them: what it keeps of a message until that is whole is counted.
  socket.prependListener('data', ({ length }: Buffer) => {
    arrivingSinceMs ??= performance.now()
    arrivedBytes += length
    const isCounted = arrivedBytes > UNCOUNTED_BYTES
    const excess = isCounted ? arriving.take(arrivedBytes - arriving.amount) : undefined
    if (!excess) return
    ws.send(errorMessage(refusalOfExcess(excess)))
    ws.terminate()
  })
  ws.on('message', (data: RawData, isBinary: boolean) => {
    waiting.push({ data: data as Buffer, held: arriving })
    arriving = open()
    beginMessage()
    if (isBinary) return ws.close(1003, 'só texto')
    if (waiting.length > WAITING_MAX) return ws.terminate()
    if (current || waiting.length > 1) ws.pause()
    else void serveWaiting()
  })
  ws.on('ping', noteControl)
  ws.on('pong', () => {
    isThere = true
    noteControl()
  })
  ws.on('error', () => ws.terminate())
  ws.once('close', () => {
    arriving[Symbol.dispose]()
    current?.left()
    if (!current) drop()
  })

  function beginMessage(): void {
    arrivedBytes = 0
    arrivingSinceMs = undefined
  }

  function noteControl(): void {
    if (arrivedBytes <= CONTROL_BYTES_MAX) beginMessage()
  }

  function drop(): void {
    for (const { held } of waiting.splice(0)) held[Symbol.dispose]()
    conversation[Symbol.dispose]()
  }

  async function serveWaiting(): Promise<void> {
    idleSinceMs = undefined
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const client = createSocketClient(ws, socket, caller.origin)
      current = client
      try {
        await serveMessage(deps, caller, conversation, next.data, client)
        await untilDrained(ws, socket)
      } finally {
        client.ended()
        next.held[Symbol.dispose]()
      }
      current = undefined
      if (ws.readyState !== ws.OPEN) return drop()
      if (waiting.length === 0) ws.resume()
    }
    idleSinceMs = performance.now()
  }

  return {
    openedAtMs,
    idleSinceMs: () => idleSinceMs,
    arrivingSinceMs: () => arrivingSinceMs,
    ping() {
      const wasThere = isThere || ws.isPaused
      isThere = false
      ws.ping()
      return wasThere
    },
    end(reason) {
      ws.close(...CLOSES[reason])
    },
    cutOff: () => ws.terminate(),
  }
}

async function serveMessage(
  deps: Deps,
  { customerId, ...caller }: SocketCaller,
  conversation: ResponseConversation,
  data: Buffer,
  client: SocketClient,
): Promise<void> {
  const requestId = createId()
  const incoming = { ...caller, requestId, receivedAtMs: performance.now() }
  try {
    const body = { bytes: data.length, findFault: () => undefined }
    const key = await deps.checkCaller(incoming, body, () => client)
    if (!key) return
    const times = isReadEarly(data) ? 2 : 1
    if (data.length > PACED_FROM_BYTES) await deps.pace.wait(customerId, times * data.length)
    const call = { ...incoming, key, body: data }
    const { kind, model } = kindOf(data)
    if (kind === 'create') return await conversation.create(call, client)
    if (kind === 'prepare') {
      const answer = () => client.endStream(preparedResponse(idTailOf(requestId), model))
      return await conversation.prepare(call, { ...client, answer })
    }
    if (kind === 'none')
      client.refuse(
        refusals.invalidRequest('O campo "type" da mensagem deve ser "response.create".'),
        deps.limits.lastKnown(keySubject(key)),
      )
  } catch (error) {
    deps.log.error('model_call_failed', { requestId, path: '/v1/responses', error })
    client.fail()
  }
}

/** A message that says something else than what to answer is small. */
const SMALL_BYTES = 4_096

/** Whether it is read for its kind before it is read as a call. */
function isReadEarly(data: Buffer): boolean {
  return data.length <= SMALL_BYTES || data.includes('"generate"')
}

/** What a message asks for; one that cannot be read, or not in time, is a call, which is refused as over HTTP. */
function kindOf(data: Buffer): { kind: 'create' | 'prepare' | 'noted' | 'none'; model: string } {
  if (!isReadEarly(data) || findJsonExcess(data, BODY_BOUNDS)) return { kind: 'create', model: '' }
  let body: unknown
  try {
    body = JSON.parse(data.toString())
  } catch {
    return { kind: 'create', model: '' }
  }
  if (!isObject(body)) return { kind: 'create', model: '' }
  const model = typeof body.model === 'string' ? body.model : ''
  // Codex says that it has taken an answer.
  if (body.type === 'response.processed') return { kind: 'noted', model }
  if (body.type !== 'response.create') return { kind: 'none', model }
  return { kind: body.generate === false ? 'prepare' : 'create', model }
}

/**
 * The upstream of the benchmark: an OpenAI-compatible server that costs as little as possible, so
 * that the gateway is measured. It answers with prebuilt bytes over a raw socket and counts its
 * answers, for comparison with the charges. It runs as a separate process: `node upstream.ts <port>...`.
 *
 * `bench-fast` answers at once (a stream: all its chunks in one write); `bench-slow` streams one
 * token every 500 ms, and `bench-paced` one every 20 ms (the other formats: `-slow` and `-paced`);
 * `bench-late` answers after 2 s. GET /count returns how many answers were started, finished and aborted.
 */
import { createServer, type Socket } from 'node:net'
import { messagesAnswer, responsesAnswer, type FormatAnswer } from './format-answers.ts'
import {
  answerText,
  answerTokens,
  deltaOfFormat,
  largeBytes,
  largeEventCount,
  largeModel,
  lateModel,
  lateMs,
  pacedModel,
  pacedModelOfFormat,
  pacedTokenCount,
  pacedTokenMs,
  promptTokenCount,
  slowModel,
  slowModelOfFormat,
  slowToken,
  slowTokenCount,
  slowTokenMs,
} from './chat-request.ts'

export interface UpstreamCount {
  readonly begun: number
  readonly finished: number
  readonly brokenOff: number
}

interface ChatBody {
  readonly model: string
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
}

const wheel = createWheel()
const count = { begun: 0, finished: 0, brokenOff: 0 }

const created = Math.floor(Date.now() / 1000)
const streamHead =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n' +
  'cache-control: no-cache\r\ntransfer-encoding: chunked\r\n\r\n'

const plainAnswer = withLength(
  '200 OK',
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created,
    model: 'bench-fast',
    choices: [
      { index: 0, message: { role: 'assistant', content: answerText }, finish_reason: 'stop' },
    ],
    usage: usageOf(answerTokens.length),
  }),
)

const fastStreams = { plain: fastStream(false), withUsage: fastStream(true) }
const slowModels: ReadonlySet<string> = new Set(Object.values(slowModelOfFormat))
const slowChunk = Buffer.from(chunked(event('bench-slow', { content: slowToken }, null)))

const pacedModels: ReadonlySet<string> = new Set(Object.values(pacedModelOfFormat))
const pacedTokens = Array.from({ length: pacedTokenCount }, () => slowToken)
const pacedChat = { plain: pacedPieces(false), withUsage: pacedPieces(true) }

const largeAnswers = createLargeAnswers()
const messagesAnswers = answersOf(messagesAnswer, deltaOfFormat.messages)
const responsesAnswers = answersOf(responsesAnswer, deltaOfFormat.responses)

for (const port of process.argv.slice(2))
  createServer({ noDelay: true }, serve).listen(Number(port), '127.0.0.1')

function serve(socket: Socket): void {
  let pending: Buffer | undefined
  // A stopping gateway may reset its connections; there is nothing to do.
  socket.on('error', () => socket.destroy())
  socket.on('data', (data) => {
    let bytes = pending === undefined ? data : Buffer.concat([pending, data])
    pending = undefined
    while (bytes.length > 0) {
      const used = answerOne(socket, bytes)
      if (used === 0) {
        pending = bytes
        return
      }
      bytes = bytes.subarray(used)
    }
  })
}

/** Answers the request at the start of `bytes`; returns its length, or 0 if it is incomplete. */
function answerOne(socket: Socket, bytes: Buffer): number {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return 0
  const head = bytes.toString('latin1', 0, headEnd)
  const bodyStart = headEnd + 4
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  const end = bodyStart + Number(length ?? 0)
  if (bytes.length < end) return 0

  const body = () => JSON.parse(bytes.toString('utf8', bodyStart, end)) as ChatBody
  if (head.startsWith('POST /v1/chat/completions ') && length !== undefined) {
    answerChat(socket, body())
  } else if (head.startsWith('POST /v1/messages ')) {
    answerAs(messagesAnswers, socket, body())
  } else if (head.startsWith('POST /v1/responses ')) {
    answerAs(responsesAnswers, socket, body())
  } else if (head.startsWith('GET /count ')) {
    socket.write(withLength('200 OK', JSON.stringify(count)))
  } else {
    // A chunked request ends here too: no target sends one.
    socket.end(withLength('404 Not Found', '{"error":{"message":"unknown request"}}'))
  }
  return end
}

function answerAs(answers: FormatAnswers, socket: Socket, { model, stream }: ChatBody): void {
  count.begun += 1
  if (stream === true && slowModels.has(model)) return streamSlowly(socket, answers.events)
  if (pacedModels.has(model)) return wheel.add(createPacedStream(socket, answers.paced))
  socket.write(stream === true ? answers.stream : answers.plain)
  count.finished += 1
}

function answerChat(socket: Socket, body: ChatBody): void {
  count.begun += 1
  const hasUsage = body.stream_options?.include_usage === true
  if (body.model === slowModel && body.stream === true)
    return streamSlowly(socket, slowPieces(hasUsage))
  if (body.model === pacedModel)
    return wheel.add(createPacedStream(socket, hasUsage ? pacedChat.withUsage : pacedChat.plain))
  if (body.model === lateModel) return void setTimeout(answerLate, lateMs, socket)
  if (body.model === largeModel) return answerLarge(socket, body.stream === true, hasUsage)
  if (body.stream !== true) socket.write(plainAnswer)
  else socket.write(hasUsage ? fastStreams.withUsage : fastStreams.plain)
  count.finished += 1
}

function answerLate(socket: Socket): void {
  count[socket.destroyed ? 'brokenOff' : 'finished'] += 1
  socket.write(plainAnswer)
}

function answerLarge(socket: Socket, isStream: boolean, hasUsage: boolean): void {
  const { plain, stream, withUsage } = largeAnswers
  socket.write(isStream ? (hasUsage ? withUsage : stream) : plain)
  count.finished += 1
}

/** Sends a piece of a stream every 500 ms; the first at once, the end with the last. */
function streamSlowly(socket: Socket, pieces: readonly Buffer[]): void {
  let sent = 0
  const sendOne = () => {
    socket.write(pieces[sent]!)
    sent += 1
    if (sent < pieces.length) return
    count.finished += 1
    stop()
  }
  const timer = setInterval(sendOne, slowTokenMs)
  const breakOff = () => {
    count.brokenOff += 1
    stop()
  }
  const stop = () => {
    clearInterval(timer)
    socket.off('close', breakOff)
  }
  socket.once('close', breakOff)
  socket.write(streamHead)
  sendOne()
}

function slowPieces(hasUsage: boolean): readonly Buffer[] {
  const last = Buffer.concat([
    slowChunk,
    Buffer.from(streamEnd(slowModel, slowTokenCount, hasUsage)),
  ])
  return [...Array.from({ length: slowTokenCount - 1 }, () => slowChunk), last]
}

/** Returns whether the stream goes on. */
type SendOne = () => boolean

/** Sends a piece every 20 ms; the first at once. */
function createPacedStream(socket: Socket, pieces: readonly Buffer[]): SendOne {
  let sent = 0
  socket.write(streamHead)
  const sendOne = (): boolean => {
    if (socket.destroyed) {
      count.brokenOff += 1
      return false
    }
    socket.write(pieces[sent]!)
    sent += 1
    if (sent < pieces.length) return true
    count.finished += 1
    return false
  }
  sendOne()
  return sendOne
}

/** Each with one token; the last one also ends the stream. */
function pacedPieces(hasUsage: boolean): readonly Buffer[] {
  const chunk = Buffer.from(chunked(event(pacedModel, { content: slowToken }, null)))
  const end = Buffer.from(streamEnd(pacedModel, pacedTokenCount, hasUsage))
  return [...Array.from({ length: pacedTokenCount - 1 }, () => chunk), Buffer.concat([chunk, end])]
}

/** One timer for all paced streams: a timer for each would cost more than the writes. */
function createWheel() {
  const slots = Array.from({ length: pacedTokenMs }, (): SendOne[] => [])
  const startedAt = performance.now()
  let turn = 0
  const slotOf = (at: number): number => at % pacedTokenMs
  setInterval(() => {
    const due = Math.floor(performance.now() - startedAt)
    for (; turn < due; turn += 1) {
      const slot = slots[slotOf(turn)]!
      let kept = 0
      for (const sendOne of slot) if (sendOne()) slot[kept++] = sendOne
      slot.length = kept
    }
  }, 1)
  return {
    add(sendOne: SendOne): void {
      // The slot that is due last.
      slots[slotOf(turn + pacedTokenMs - 1)]!.push(sendOne)
    },
  }
}

function fastStream(hasUsage: boolean): Buffer {
  const events = answerTokens.map((content) => chunked(event('bench-fast', { content }, null)))
  const end = streamEnd('bench-fast', answerTokens.length, hasUsage)
  return Buffer.from(streamHead + events.join('') + end)
}

/** A tool call whose arguments are large: at once, or in many events. */
function createLargeAnswers() {
  const part = 'x'.repeat(Math.floor(largeBytes.toolCall / largeEventCount))
  const call = (text: string) => ({ function: { name: 'write_file', arguments: text } })
  const whole = [
    {
      id: 'call_1',
      type: 'function',
      ...call(JSON.stringify({ text: part.repeat(largeEventCount) })),
    },
  ]
  const tokens = largeBytes.toolCall / 4
  const message = { role: 'assistant', content: null, tool_calls: whole }
  const plain = withLength(
    '200 OK',
    JSON.stringify({
      id: 'chatcmpl-bench',
      object: 'chat.completion',
      created,
      model: largeModel,
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      usage: usageOf(tokens),
    }),
  )
  const first = { index: 0, id: 'call_1', type: 'function', ...call('{"text":"') }
  const pieces = [
    first,
    ...[...Array.from({ length: largeEventCount }, () => part), '"}'].map((text) => ({
      index: 0,
      function: { arguments: text },
    })),
  ]
  const events = pieces.map((piece) => chunked(event(largeModel, { tool_calls: [piece] }, null)))
  const streamOf = (hasUsage: boolean): Buffer =>
    Buffer.from(streamHead + events.join('') + streamEnd(largeModel, tokens, hasUsage))
  return { plain, stream: streamOf(false), withUsage: streamOf(true) }
}

function streamEnd(model: string, tokens: number, hasUsage: boolean): string {
  const usage = { ...chunkHead(model), choices: [], usage: usageOf(tokens) }
  return (
    chunked(event(model, {}, 'stop')) +
    (hasUsage ? chunked(`data: ${JSON.stringify(usage)}\n\n`) : '') +
    chunked('data: [DONE]\n\n') +
    '0\r\n\r\n'
  )
}

function event(model: string, delta: object, finishReason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finishReason }]
  return `data: ${JSON.stringify({ ...chunkHead(model), choices })}\n\n`
}

function chunkHead(model: string): object {
  return { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created, model }
}

function usageOf(tokens: number): object {
  return {
    prompt_tokens: promptTokenCount,
    completion_tokens: tokens,
    total_tokens: promptTokenCount + tokens,
  }
}

interface FormatAnswers {
  readonly plain: Buffer
  readonly stream: Buffer
  /** Of the stream, after its head. */
  readonly events: readonly Buffer[]
  /** Of the paced stream: one token each, with the events before the first and after the last one. */
  readonly paced: readonly Buffer[]
}

function answersOf(
  answerWith: (tokens: readonly string[]) => FormatAnswer,
  deltaType: string,
): FormatAnswers {
  const linesOf = (events: FormatAnswer['events']): string[] =>
    events.map(
      (one, at) =>
        chunked(`event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`) +
        (at < events.length - 1 ? '' : '0\r\n\r\n'),
    )
  const { plain, events } = answerWith(answerTokens)
  const lines = linesOf(events)
  const paced = answerWith(pacedTokens).events
  const pacedLines = linesOf(paced)
  const deltas = paced.flatMap(({ type }, at) => (type === deltaType ? [at] : []))
  return {
    plain: withLength('200 OK', JSON.stringify(plain)),
    stream: Buffer.from(streamHead + lines.join('')),
    events: lines.map((line) => Buffer.from(line)),
    paced: deltas.map((at, nth) => {
      const from = nth === 0 ? 0 : at
      const until = nth === deltas.length - 1 ? paced.length : at + 1
      return Buffer.from(pacedLines.slice(from, until).join(''))
    }),
  }
}

function chunked(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

function withLength(status: string, json: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  )
}

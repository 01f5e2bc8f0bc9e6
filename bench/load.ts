/**
 * The load generator: N connections, each sending its next request when the answer to the last one
 * is complete (a closed loop, so latency at many connections is mostly queueing). A process of its
 * own: `node load.ts` reads a LoadPlan as JSON and prints a LoadResult as JSON.
 */
import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { Histogram, type Latencies } from './histogram.ts'
import { openConnection, requestsOf, type Endpoint } from './open-connection.ts'
import { ResponseParser } from './response-parser.ts'

export interface LoadPlan extends Endpoint {
  readonly body: string
  readonly isStream: boolean
  /** An answer is a refusal: any status of 4xx. */
  readonly isRefused?: boolean
  /** Among the last bytes of a stream. */
  readonly endOfEvents: string
  readonly connections: number
  /** Not recorded: opens the connections and warms this process up. */
  readonly warmupSeconds: number
  readonly seconds: number
  /** A shorter body is a failure. */
  readonly bodyBytesMin: number
}

export interface LoadResult {
  readonly seconds: number
  /** Answers that arrived within the measured time. */
  readonly answers: number
  readonly requestsPerSecond: number
  /** All complete 200 answers of this run, including warm-up and stragglers: each of them is charged. */
  readonly answersInAll: number
  readonly failures: number
  readonly firstFailure: string | null
  readonly statuses: Readonly<Record<string, number>>
  readonly bodyBytes: { readonly min: number; readonly max: number }
  readonly latencyMs: Latencies
  readonly firstByteMs: Latencies
}

/** After this many failures the target is broken and its figures are meaningless. */
const FAILURES_MAX = 1000
/** For answers that are still running when the time is over. */
const DRAIN_MS_MAX = 10_000

const plan = JSON.parse(readFileSync(0, 'utf8')) as LoadPlan
const requestOf = requestsOf(plan, plan.body)

const statuses: Record<string, number> = {}
const bodyBytes = { min: Number.MAX_SAFE_INTEGER, max: 0 }
let latency = new Histogram()
let firstByte = new Histogram()
let answers = 0
let answersInAll = 0
let failures = 0
let firstFailure: string | null = null
let isRecording = false
let isStopping = false
let busy = 0
let startedAt = 0
let measuredMs = 0

for (let i = 0; i < plan.connections; i += 1) runConnection(requestOf(i))
setTimeout(startRecording, plan.warmupSeconds * 1000)
setTimeout(stopRecording, (plan.warmupSeconds + plan.seconds) * 1000)

function startRecording(): void {
  latency = new Histogram()
  firstByte = new Histogram()
  answers = 0
  startedAt = performance.now()
  isRecording = true
}

function stopRecording(): void {
  measuredMs = performance.now() - startedAt
  isRecording = false
  isStopping = true
  finishWhenIdle()
  setTimeout(() => {
    fail(`${busy} answers still missing ${DRAIN_MS_MAX} ms after the end`, busy)
    finish()
  }, DRAIN_MS_MAX)
}

function runConnection(request: Buffer): void {
  const parser = new ResponseParser()
  let sentAt = 0
  let isWaiting = false
  let hasFirstByte = false

  const socket = openConnection(plan.port, read)
  socket.on('connect', send)
  socket.on('error', (error) => lose(error.message))
  socket.on('close', () => lose('connection closed'))

  function send(): void {
    sentAt = performance.now()
    hasFirstByte = false
    isWaiting = true
    busy += 1
    socket.write(request)
  }

  function read(bytes: Buffer): void {
    let isComplete: boolean
    try {
      isComplete = parser.push(bytes)
    } catch (error) {
      lose((error as Error).message)
      return
    }
    const now = performance.now()
    if (!hasFirstByte && parser.bodyBytes > 0) {
      hasFirstByte = true
      if (isRecording) firstByte.record(now - sentAt)
    }
    if (!isComplete) return
    isWaiting = false
    busy -= 1
    if (isRecording) latency.record(now - sentAt)
    take(parser, bytes)
    if (isStopping) finishWhenIdle()
    else if (parser.isLast) lose('connection: close')
    else send()
  }

  /** Closes this connection; a new one replaces it. Only a lost answer is a failure. */
  function lose(reason: string): void {
    socket.removeAllListeners('close').destroy()
    if (isWaiting) {
      isWaiting = false
      busy -= 1
      fail(reason, 1)
    } else if (sentAt === 0) {
      fail(`cannot connect: ${reason}`, 1)
    }
    sentAt = -1
    if (isStopping) finishWhenIdle()
    else setTimeout(runConnection, 10, request)
  }
}

function take(parser: ResponseParser, lastBytes: Buffer): void {
  statuses[parser.status] = (statuses[parser.status] ?? 0) + 1
  const isExpected = plan.isRefused
    ? parser.status >= 400 && parser.status < 500
    : parser.status === 200
  if (!isExpected) {
    fail(`status ${parser.status}: ${lastBytes.toString().slice(-300)}`, 1)
    return
  }
  answersInAll += 1
  if (parser.bodyBytes < bodyBytes.min) bodyBytes.min = parser.bodyBytes
  if (parser.bodyBytes > bodyBytes.max) bodyBytes.max = parser.bodyBytes
  if (parser.bodyBytes < plan.bodyBytesMin) fail(`only ${parser.bodyBytes} bytes of body`, 1)
  else if (plan.isStream && !parser.hasEnd(plan.endOfEvents)) fail('a stream without its end', 1)
  else if (isRecording) answers += 1
}

function fail(reason: string, number: number): void {
  failures += number
  firstFailure ??= reason
  if (failures >= FAILURES_MAX) finish()
}

function finishWhenIdle(): void {
  if (busy === 0) finish()
}

function finish(): never {
  const seconds = (measuredMs || performance.now() - startedAt) / 1000
  const result: LoadResult = {
    seconds: Math.round(seconds * 1000) / 1000,
    answers,
    requestsPerSecond: Math.round(answers / seconds),
    answersInAll,
    failures,
    firstFailure,
    statuses,
    bodyBytes,
    latencyMs: latency.latencies(),
    firstByteMs: firstByte.latencies(),
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
  process.exit(0)
}

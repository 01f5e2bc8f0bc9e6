/**
 * The clients of paced streams: N streams at once, each followed by the next one. A separate process:
 * `node paced/load.ts '<PacedPlan as JSON>'` prints a PacedResult as JSON.
 */
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bodyOfFormat,
  deltaOfFormat,
  endOfFormat,
  pacedTokenCount,
  pacedTokenMs,
  type Format,
} from '../chat-request.ts'
import { Histogram, type Latencies } from '../histogram.ts'
import { openConnection, requestsOf, type Endpoint } from '../open-connection.ts'
import { readProcessUsage } from '../process-usage.ts'
import { ResponseParser } from '../response-parser.ts'

export interface PacedPlan extends Endpoint {
  readonly format: Format
  readonly streams: number
  readonly warmupSeconds: number
  readonly seconds: number
  /** The gateway's process; undefined without one. */
  readonly pid: number | undefined
  readonly databasePid?: number
}

export interface PacedResult {
  readonly eventsPerSecond: number
  readonly gatewayCpuUs: number | null
  readonly databaseCpuUs: number | null
  readonly gatewayBytes: number | null
  readonly firstByteMs: Latencies
  readonly gapMs: Latencies
  /** Complete streams, of the warm-up and the end too: each of them is charged. */
  readonly complete: number
  readonly failures: number
  readonly firstFailure: string | null
}

/** For streams that are still open at the end. */
const DRAIN_MS_MAX = 4 * pacedTokenCount * pacedTokenMs + 10_000

const plan = JSON.parse(process.argv[2] ?? '') as PacedPlan
const { format } = plan
const requestOf = requestsOf(plan, bodyOfFormat(format, 'paced'))
/** The beginning of each event with a token. */
const EVENT = Buffer.from(format === 'chat' ? 'data: {' : `event: ${deltaOfFormat[format]}`)

let firstByte = new Histogram()
let gap = new Histogram()
let events = 0
let complete = 0
let failures = 0
let firstFailure: string | null = null
let isStopping = false
const open = { connections: 0 }

function fail(reason: string): void {
  failures += 1
  firstFailure ??= reason
}

function runConnection(request: Buffer): void {
  const parser = new ResponseParser()
  let sentAt = 0
  let lastAt = 0
  let seen = 0
  open.connections += 1
  const socket = openConnection(plan.port, read)
  socket.on('connect', send)
  socket.on('error', () => {})
  socket.on('close', () => {
    open.connections -= 1
    if (sentAt > 0) fail(`closed after ${seen} events`)
    if (!isStopping) setTimeout(runConnection, 10, request)
  })

  function send(): void {
    sentAt = performance.now()
    lastAt = 0
    seen = 0
    socket.write(request)
  }

  function read(bytes: Buffer): void {
    const now = performance.now()
    for (let at = bytes.indexOf(EVENT); at >= 0; at = bytes.indexOf(EVENT, at + EVENT.length)) {
      if (lastAt === 0) firstByte.record(now - sentAt)
      else gap.record(now - lastAt)
      lastAt = now
      seen += 1
      events += 1
    }
    let isComplete: boolean
    try {
      isComplete = parser.push(bytes)
    } catch (error) {
      fail((error as Error).message)
      sentAt = 0
      return void socket.destroy()
    }
    if (!isComplete) return
    sentAt = 0
    if (parser.status === 200 && seen >= pacedTokenCount && parser.hasEnd(endOfFormat[format]))
      complete += 1
    else fail(`status ${parser.status}, ${seen} events: ${bytes.toString().slice(-200)}`)
    if (isStopping || parser.isLast) socket.destroy()
    else send()
  }
}

for (let stream = 0; stream < plan.streams; stream += 1) {
  runConnection(requestOf(stream))
  // Spread over the length of a stream, so that they do not begin together.
  await sleep((pacedTokenCount * pacedTokenMs) / plan.streams)
}
await sleep(plan.warmupSeconds * 1000)
const pids = [plan.pid, plan.databasePid].filter((one) => one !== undefined)
const usageOf = () => readProcessUsage(...pids)
firstByte = new Histogram()
gap = new Histogram()
const before = usageOf()
const eventsBefore = events
const startedAt = performance.now()
await sleep(plan.seconds * 1000)
const recorded = events - eventsBefore
const seconds = (performance.now() - startedAt) / 1000
const after = usageOf()
const figures = {
  eventsPerSecond: Math.round(recorded / seconds),
  gatewayCpuUs: cpuUs(before?.gatewayCpuMs, after?.gatewayCpuMs),
  databaseCpuUs: cpuUs(before?.databaseCpuMs, after?.databaseCpuMs),
  gatewayBytes: after?.gatewayBytes ?? null,
  firstByteMs: firstByte.latencies(),
  gapMs: gap.latencies(),
}
isStopping = true
for (let waited = 0; open.connections > 0 && waited < DRAIN_MS_MAX; waited += 50) await sleep(50)
if (open.connections > 0) fail(`${open.connections} streams did not end`)
const result: PacedResult = { ...figures, complete, failures, firstFailure }
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))

function cpuUs(from: number | undefined, to: number | undefined): number | null {
  if (from === undefined || to === undefined || recorded === 0) return null
  return Math.round(((to - from) * 10_000) / recorded) / 10
}

/**
 * Many slow streams at once through one target: whether each gets all of its tokens, and how much
 * memory the gateway needs for them.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { requestBodies, slowToken, slowTokenCount, slowTokenMs } from './chat-request.ts'
import { readDatabaseBytes, readProcessUsage } from './process-usage.ts'
import type { Target } from './target.ts'

export interface SlowStreamsResult {
  readonly streams: number
  readonly complete: number
  readonly firstFailure: string | null
  readonly seconds: number
  /** The most streams that were open at one time. */
  readonly concurrentMax: number
  readonly gatewayBytesBefore: number | null
  readonly gatewayBytesMax: number | null
  readonly databaseBytesMax: number | null
}

/** Streams open gradually: opening all of them at once would measure the listen backlog. */
const OPEN_EACH_MS = 2
/** Twice the length of a stream. */
const STREAM_MS_MAX = slowTokenCount * slowTokenMs * 2
const SAMPLE_MS = 500

export async function runSlowStreams(target: Target, streams: number): Promise<SlowStreamsResult> {
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity })
  const startedAt = performance.now()
  const memory = trackMemory(target)
  const running = { now: 0, max: 0 }
  const all: Promise<string | null>[] = []
  for (let i = 0; i < streams; i += 1) {
    all.push(readStream(target, agent, running))
    await sleep(OPEN_EACH_MS)
  }
  const failures = (await Promise.all(all)).filter((failure) => failure !== null)
  agent.destroy()
  return {
    streams,
    complete: streams - failures.length,
    firstFailure: failures[0] ?? null,
    seconds: Math.round((performance.now() - startedAt) / 100) / 10,
    concurrentMax: running.max,
    ...memory.stop(),
  }
}

/** Resolves to null for a complete stream, else to a description of the fault. */
function readStream(
  target: Target,
  agent: Agent,
  running: { now: number; max: number },
): Promise<string | null> {
  return new Promise((resolve) => {
    const outgoing = request({
      agent,
      host: '127.0.0.1',
      port: target.port,
      path: target.path,
      method: 'POST',
      headers: { ...target.headers, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(STREAM_MS_MAX),
    })
    outgoing.on('error', (error) => resolve(error.message))
    outgoing.on('response', (response) => {
      let text = ''
      running.now += 1
      running.max = Math.max(running.max, running.now)
      response.setEncoding('utf8')
      response.on('data', (piece: string) => (text += piece))
      response.on('error', (error) => resolve(error.message))
      response.on('close', () => {
        running.now -= 1
        resolve(faultOf(response.statusCode ?? 0, text))
      })
    })
    outgoing.end(requestBodies.slow)
  })
}

function faultOf(status: number, text: string): string | null {
  if (status !== 200) return `status ${status}: ${text.slice(0, 300)}`
  const tokens = text.split(`"content":"${slowToken}"`).length - 1
  if (tokens !== slowTokenCount) return `${tokens} of ${slowTokenCount} tokens`
  return text.endsWith('data: [DONE]\n\n') ? null : 'no [DONE] at the end'
}

function trackMemory({ pid }: Target) {
  const readGateway = () => (pid === undefined ? 0 : (readProcessUsage(pid)?.gatewayBytes ?? 0))
  const readDatabase = () => (pid === undefined ? 0 : readDatabaseBytes(pid))
  const before = readGateway()
  let gatewayMax = before
  let databaseMax = 0
  const take = () => {
    gatewayMax = Math.max(gatewayMax, readGateway())
    databaseMax = Math.max(databaseMax, readDatabase())
  }
  const timer = setInterval(take, SAMPLE_MS)
  return {
    stop() {
      clearInterval(timer)
      take()
      return {
        gatewayBytesBefore: before || null,
        gatewayBytesMax: gatewayMax || null,
        databaseBytesMax: databaseMax || null,
      }
    },
  }
}

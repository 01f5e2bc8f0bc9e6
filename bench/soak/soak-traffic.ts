/**
 * The clients of the soak: streams that last 10 to 30 s, some of which their client leaves, and a few plain calls a
 * second, among them large and refused ones. Each client format takes turns over an upstream of each format.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import {
  bodyOfFormat,
  fastModel,
  formats,
  largeBody,
  modelOfFormat,
  pathOfFormat,
  slowModelOfFormat,
  type Format,
  type Mode,
} from '../chat-request.ts'
import { Histogram } from '../histogram.ts'

export interface SoakCounts {
  /** Whole answers, plain and streamed: each is charged once. */
  whole: number
  /** Streams that their client left after some tokens: each is charged once. */
  left: number
  /** Calls with a wrong key or an unknown model: none is charged. */
  refused: number
  failures: number
  firstFailure: string | null
}

export interface SoakTraffic {
  readonly counts: SoakCounts
  /** Latencies of the plain calls since the last reading. */
  takeLatencies(): { readonly p50: number; readonly p99: number }
  /** Waits for the calls under way. */
  stop(): Promise<void>
}

interface Pace {
  readonly streams: number
  readonly callsPerSecond: number
}

const ENDS: Readonly<Record<Format, string>> = {
  chat: 'data: [DONE]',
  messages: '"type":"message_stop"',
  responses: '"type":"response.completed"',
}
/** In every token of a slow chat, and in the third one of the other formats. */
const TOKEN = 'gira'
const PLAIN_MS_MAX = 60_000
const STREAM_MS_MAX = 180_000

/** Every which call is one. */
const LEFT_EACH = 7
const REFUSED_EACH = 11
const LARGE_EACH = 17
const FAST_STREAM_EACH = 5

export function startTraffic(
  url: string,
  callers: readonly Readonly<Record<string, string>>[],
  { streams, callsPerSecond }: Pace,
): SoakTraffic {
  const counts: SoakCounts = { whole: 0, left: 0, refused: 0, failures: 0, firstFailure: null }
  let latencies = new Histogram()
  const life = { isOver: false }
  let made = 0
  const running = new Set<Promise<void>>()

  const fail = (reason: string): void => {
    counts.failures += 1
    counts.firstFailure ??= reason
  }
  const post = (
    format: Format,
    turn: number,
    call: { body: string; msMax: number; more?: Record<string, string> },
  ): Promise<Response> =>
    fetch(`${url}${pathOfFormat[format]}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...callers[turn % callers.length],
        // Sessions without end, as agents open them.
        ...(turn % 2 === 0 ? { 'x-svc-session-id': `soak-${turn}` } : {}),
        ...call.more,
      },
      body: call.body,
      signal: AbortSignal.timeout(call.msMax),
    })

  async function stream(turn: number, models: Readonly<Record<Format, string>>): Promise<void> {
    const { format, upstream } = pairOf(turn)
    const isLeft = turn % LEFT_EACH === 0
    const body = bodyOf(format, 'stream', models[upstream], turn)
    const response = await post(format, turn, { body, msMax: STREAM_MS_MAX })
    let text = ''
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes as Uint8Array, { stream: true })
      if (!isLeft || !text.includes(TOKEN)) continue
      counts.left += 1
      // Ends the body, and with it the connection.
      return
    }
    if (response.status === 200 && text.includes(ENDS[format])) counts.whole += 1
    else fail(`${format} over ${upstream}: status ${response.status}: ${text.slice(-300)}`)
  }

  async function plain(turn: number): Promise<void> {
    const { format, upstream } = pairOf(turn)
    const isLarge = turn % LARGE_EACH === 0
    const startedAt = performance.now()
    const body = isLarge
      ? largeBody(turn % 2 === 0 ? 'prompt' : 'tool call', 'plain')
      : bodyOf(format, 'plain', modelOfFormat[upstream], turn)
    const response = await post(isLarge ? 'chat' : format, turn, { body, msMax: PLAIN_MS_MAX })
    const text = await response.text()
    if (!isLarge) latencies.record(performance.now() - startedAt)
    if (response.status === 200) counts.whole += 1
    else fail(`${format} over ${upstream}: status ${response.status}: ${text.slice(0, 300)}`)
  }

  async function refused(turn: number): Promise<void> {
    const { format } = pairOf(turn)
    const isWrongKey = turn % 2 === 0
    const response = await post(format, turn, {
      body: bodyOf(format, 'plain', isWrongKey ? fastModel : `no-model-${turn}`, turn),
      msMax: PLAIN_MS_MAX,
      more: isWrongKey ? { authorization: `Bearer sk-wrong-${turn}` } : {},
    })
    await response.text()
    if (response.status === (isWrongKey ? 401 : 404)) counts.refused += 1
    else fail(`a call to refuse: status ${response.status}`)
  }

  function run(call: Promise<void>): Promise<void> {
    const done = call
      .catch((error: unknown) => fail(String((error as Error).cause ?? error)))
      .finally(() => running.delete(done))
    running.add(done)
    return done
  }

  async function keepStreaming(first: number): Promise<void> {
    for (let turn = first; !life.isOver; turn += streams) await run(stream(turn, slowModelOfFormat))
  }

  const timer = setInterval(() => {
    made += 1
    if (made % REFUSED_EACH === 0) void run(refused(made))
    else if (made % FAST_STREAM_EACH === 0) void run(stream(made, modelOfFormat))
    else void run(plain(made))
  }, 1_000 / callsPerSecond)
  void (async () => {
    for (let first = 0; first < streams && !life.isOver; first += 1) {
      void keepStreaming(first)
      await sleep(500)
    }
  })()

  return {
    counts,
    takeLatencies() {
      const { p50, p99 } = latencies.latencies()
      latencies = new Histogram()
      return { p50, p99 }
    },
    async stop() {
      life.isOver = true
      clearInterval(timer)
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** The nine pairs of a client's and an upstream's format, in turn. */
function pairOf(turn: number): { format: Format; upstream: Format } {
  const pair = turn % (formats.length * formats.length)
  return {
    format: formats[pair % formats.length]!,
    upstream: formats[Math.floor(pair / formats.length)]!,
  }
}

function bodyOf(format: Format, mode: Mode, model: string, turn: number): string {
  const body = JSON.parse(bodyOfFormat(format, mode)) as object
  // No two prompts are the same.
  return JSON.stringify({ ...body, model }).replace('Bom dia!', `Bom dia, ${turn}!`)
}

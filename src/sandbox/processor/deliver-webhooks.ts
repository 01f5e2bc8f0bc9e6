/**
 * Delivers webhooks as Asaas does: in sequence, at least once, with the same id on every retry. Only a 200 within ten
 * seconds counts as success. After the last failed try the queue stops until it is resumed.
 */
import { Agent, request } from 'undici'
import type { SandboxState } from './open-state.ts'

export interface WebhookTarget {
  readonly url: string
  readonly token: string
}

export interface WebhookQueue {
  /** Call it after adding events to the state. */
  wake(): void
  sendTo(target: WebhookTarget): void
  readonly isInterrupted: boolean
  resume(): void
  /** Resolves when all events are delivered or the queue is interrupted. */
  settled(): Promise<void>
  /** Sends one request outside the queue, for forged and unknown events; resolves to the status. */
  post(body: string, token: string | undefined): Promise<number>
  close(): Promise<void>
}

/**
 * The pauses between tries: 0, 30 s, 1 min, 3.5 min, 5 min, 15 min, 25 min, five times an hour, twice two hours, and
 * three.
 */
export const RETRY_DELAYS_MS: readonly number[] = [
  0, 30_000, 60_000, 210_000, 300_000, 900_000, 1_500_000, 3_600_000, 3_600_000, 3_600_000,
  3_600_000, 3_600_000, 7_200_000, 7_200_000, 10_800_000,
]
const ANSWER_TIMEOUT_MS = 10_000

interface QueueLife {
  target: WebhookTarget | undefined
  isInterrupted: boolean
  isClosed: boolean
  running: Promise<void> | undefined
  /** Ends the wait for the next try. */
  skipDelay: (() => void) | undefined
}

export function createWebhookQueue(
  state: SandboxState,
  {
    target,
    retryDelaysMs,
  }: { target: WebhookTarget | undefined; retryDelaysMs: readonly number[] },
): WebhookQueue {
  const agent = new Agent({ connections: 4 })
  const life: QueueLife = {
    target,
    isInterrupted: false,
    isClosed: false,
    running: undefined,
    skipDelay: undefined,
  }
  const hasWork = (): boolean =>
    state.events.length > 0 && life.target !== undefined && !life.isInterrupted && !life.isClosed

  async function post(body: string, token: string | undefined): Promise<number> {
    if (!life.target) throw new Error('no address for webhooks is set')
    return postWebhook(agent, life.target.url, body, token)
  }

  async function run(): Promise<void> {
    for (let event = state.events[0]; event && hasWork(); event = state.events[0]) {
      await pause(life, retryDelaysMs[event.failures] ?? 0)
      const status = life.isClosed ? 0 : await post(event.body, life.target?.token).catch(() => 0)
      // A try that `close` has cut short does not count.
      if (life.isClosed) return
      if (status === 200) state.events.shift()
      else if (++event.failures >= retryDelaysMs.length) life.isInterrupted = true
      await state.save()
    }
  }

  function wake(): void {
    life.running ??= run()
      .catch((error: unknown) => console.error('the sandbox webhooks:', error))
      .finally(() => {
        life.running = undefined
        // An event may have been added since the last check.
        if (hasWork()) wake()
      })
  }

  return {
    wake,
    post,
    sendTo(given) {
      life.target = given
      life.skipDelay?.()
      wake()
    },
    get isInterrupted() {
      return life.isInterrupted
    },
    resume() {
      life.isInterrupted = false
      if (state.events[0]) state.events[0].failures = 0
      wake()
    },
    async settled() {
      while (life.running) await life.running
    },
    async close() {
      life.isClosed = true
      life.skipDelay?.()
      await agent.destroy()
      await life.running
    },
  }
}

async function postWebhook(
  agent: Agent,
  url: string,
  body: string,
  token: string | undefined,
): Promise<number> {
  const answer = await request(url, {
    dispatcher: agent,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'catraca-sandbox',
      ...(token === undefined ? {} : { 'asaas-access-token': token }),
    },
    body,
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  })
  await answer.body.dump()
  return answer.statusCode
}

function pause(life: QueueLife, ms: number): Promise<void> | undefined {
  if (ms === 0) return undefined
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    timer.unref()
    life.skipDelay = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

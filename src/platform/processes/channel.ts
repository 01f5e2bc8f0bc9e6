import cluster from 'node:cluster'

/** Messages between a parent process and one of its workers. Both ends use the same code. */

export interface Channel {
  /** Nothing is sent once the other process is gone. */
  post(topic: string, data?: unknown): void
  /** Rejects if the other process is gone, does not answer in time, or fails to. */
  ask(topic: string, data?: unknown, timeoutMs?: number): Promise<unknown>
  /** The result is the answer to the one who asks. One handler for each topic. */
  on(topic: string, handle: (data: unknown) => unknown): void
  /** A message from the other process; ignored once that is gone. */
  receive(message: unknown): void
  /** The other process is gone: all outstanding questions fail. */
  close(): void
}

/** As sent: a topic, with `id` if an answer is wanted; or the answer to `answers`. */
interface Message {
  readonly topic?: string
  readonly id?: number
  readonly answers?: number
  readonly data?: unknown
  readonly failure?: string
}

const ASK_MS_MAX = 5_000

export function createChannel(send: (message: Message) => void): Channel {
  const handlers = new Map<string, (data: unknown) => unknown>()
  const asked = new Map<number, PromiseWithResolvers<unknown>>()
  let nextId = 1
  let isClosed = false

  function post(message: Message): void {
    if (!isClosed) send(message)
  }

  async function handle({ topic = '', id, data }: Message): Promise<void> {
    try {
      const result = await handlers.get(topic)?.(data)
      if (id !== undefined) post({ answers: id, data: result })
    } catch (error) {
      if (id === undefined) throw error
      post({ answers: id, failure: error instanceof Error ? error.message : String(error) })
    }
  }

  return {
    post: (topic, data) => post({ topic, data }),
    async ask(topic, data, timeoutMs = ASK_MS_MAX) {
      if (isClosed) throw new Error(`${topic}: the other process is gone`)
      const id = nextId++
      const answer = Promise.withResolvers<unknown>()
      asked.set(id, answer)
      const timer = setTimeout(
        () => answer.reject(new Error(`${topic}: no answer in time`)),
        timeoutMs,
      )
      post({ topic, id, data })
      try {
        return await answer.promise
      } finally {
        clearTimeout(timer)
        asked.delete(id)
      }
    },
    on: (topic, handler) => void handlers.set(topic, handler),
    receive(received) {
      // The end of the other process has been handled: its shares are given back, and must not be taken again.
      if (isClosed) return
      const message = received as Message
      if (message.answers === undefined) return void handle(message)
      const answer = asked.get(message.answers)
      if (message.failure === undefined) answer?.resolve(message.data)
      else answer?.reject(new Error(message.failure))
    },
    close() {
      isClosed = true
      for (const [, answer] of asked) answer.reject(new Error('the other process is gone'))
    },
  }
}

/**
 * Opens the worker's end of the channel to its parent. `onLost` is called when the parent is gone, so that nothing
 * replaces this process if it dies.
 */
export function openParentChannel(onLost: () => void): Channel {
  // Otherwise the platform ends this process, with its calls, as soon as the parent is gone.
  if (cluster.worker) cluster.worker.exitedAfterDisconnect = true
  const channel = createChannel((message) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => {})
  })
  process.on('message', (message) => channel.receive(message))
  process.once('disconnect', () => {
    channel.close()
    onLost()
  })
  return channel
}

/** The body of an answer, pushed by its connection and taken by one consumer. */

/** Returns undefined to get more. */
export type TakeBytes<Result> = (bytes: Buffer) => Result | undefined | Promise<Result | undefined>

/** The connection that the body comes from. */
export interface BodySource {
  pause(): void
  resume(): void
}

export interface BodyQueue {
  push(bytes: Buffer): void
  /** Nothing more is pushed. */
  end(): void
  /**
   * Calls `take` with the data of each read from the network. Resolves to the first result that `take` returns, or to
   * undefined at the end. While a promise of `take` is pending, the data waits, and too much of it pauses the source.
   * Rejects with an error of `take`. Called once.
   */
  readonly each: <Result>(take: TakeBytes<Result>) => Promise<Result | undefined>
}

interface Consumer {
  readonly take: TakeBytes<unknown>
  readonly settle: (result: unknown) => void
  readonly fail: (error: unknown) => void
}

/** The most data that waits before the source is paused. */
const WAITING_BYTES_MAX = 64 * 1024
/** The memory of a part beside its bytes: an upstream may send one byte at a time. */
const PART_BYTES = 128

export function createBodyQueue(source: BodySource): BodyQueue {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let hasEnded = false
  let isPaused = false
  let consumer: Consumer | undefined
  /** A promise of the consumer is pending. */
  let isTaking = false
  let isDue = false

  /** Later in this turn of the event loop, so that all that one read of the socket brings is taken at once. */
  function drainSoon(): void {
    if (isDue || !consumer) return
    isDue = true
    queueMicrotask(drain)
  }

  function drain(): void {
    isDue = false
    if (consumer && !isTaking && waiting.length > 0) pass(consumer, takeWaiting())
    if (hasEnded && !isTaking) finish((ended) => ended.settle(undefined))
  }

  function takeWaiting(): Buffer {
    const taken = waiting
    waiting = []
    waitingBytes = 0
    if (isPaused) {
      isPaused = false
      source.resume()
    }
    return taken.length === 1 ? (taken[0] as Buffer) : Buffer.concat(taken)
  }

  function pass({ take }: Consumer, bytes: Buffer): void {
    try {
      const result = take(bytes)
      if (result instanceof Promise) {
        isTaking = true
        result.then(passed, failed)
      } else if (result !== undefined) finish((ended) => ended.settle(result))
    } catch (error) {
      failed(error)
    }
  }

  function passed(result: unknown): void {
    isTaking = false
    if (result === undefined) drain()
    else finish((ended) => ended.settle(result))
  }

  function failed(error: unknown): void {
    isTaking = false
    finish((ended) => ended.fail(error))
  }

  function finish(end: (ended: Consumer) => void): void {
    const ended = consumer
    consumer = undefined
    if (ended) end(ended)
  }

  return {
    push(bytes) {
      waiting.push(bytes)
      waitingBytes += bytes.length + PART_BYTES
      if (waitingBytes > WAITING_BYTES_MAX && !isPaused) {
        isPaused = true
        source.pause()
      }
      drainSoon()
    },
    end() {
      hasEnded = true
      drainSoon()
    },
    each<Result>(take: TakeBytes<Result>) {
      return new Promise<Result | undefined>((settle, fail) => {
        consumer = { take, settle: settle as Consumer['settle'], fail }
        drain()
      })
    },
  }
}

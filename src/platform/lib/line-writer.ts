import { write } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Writes lines to a descriptor beside the work: in batches, without waiting for its reader. Several processes may write
 * to the same pipe, so that no write is longer than a pipe takes as a whole, and none ends within a line.
 */
export interface LineWriter {
  /** An ASCII line, shorter than 4096 bytes, without its line end. */
  write(line: string): void
  /** Lines that were left out because the reader is slow or gone. */
  readonly lost: number
  /** Writes the waiting lines, unless the reader takes longer than two seconds. */
  close(): Promise<void>
}

/** PIPE_BUF of Linux. */
const WRITE_BYTES_MAX = 4096
const EVERY_MS = 100
const WAITING_BYTES_MAX = 8 * 1024 * 1024
/** A pipe that is full is tried again after this time. */
const FULL_MS = 50
const CLOSE_MS_MAX = 2_000

export function createLineWriter(fd: number): LineWriter {
  let waiting: string[] = []
  let waitingBytes = 0
  let lost = 0
  let writing: Promise<void> | undefined

  async function writeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const lines = waiting
      waiting = []
      waitingBytes = 0
      for (const chunk of chunksOf(lines)) {
        const isWritten = await writeWhole(fd, chunk.text)
        if (!isWritten) lost += chunk.lines
      }
    }
  }

  async function writeSoon(): Promise<void> {
    await sleep(EVERY_MS, undefined, { ref: false })
    await writeWaiting()
    writing = undefined
  }

  return {
    write(line) {
      if (waitingBytes > WAITING_BYTES_MAX) return void (lost += 1)
      waiting.push(line)
      waitingBytes += line.length + 1
      writing ??= writeSoon()
    },
    get lost() {
      return lost
    },
    async close() {
      if (writing) await Promise.race([writing, sleep(CLOSE_MS_MAX)])
    },
  }
}

function* chunksOf(lines: readonly string[]): Generator<{ text: string; lines: number }> {
  let chunk = { text: '', lines: 0 }
  for (const line of lines) {
    if (chunk.text.length + line.length + 1 > WRITE_BYTES_MAX) {
      yield chunk
      chunk = { text: '', lines: 0 }
    }
    chunk = { text: `${chunk.text}${line}\n`, lines: chunk.lines + 1 }
  }
  yield chunk
}

/** Writes the whole text. Returns false if the descriptor does not take it: its reader is gone, or a disk is full. */
async function writeWhole(fd: number, text: string): Promise<boolean> {
  let rest = Buffer.from(text, 'latin1')
  for (;;) {
    const { error, bytes } = await new Promise<{
      error: NodeJS.ErrnoException | null
      bytes: number
    }>((resolve) => write(fd, rest, (error, bytes) => resolve({ error, bytes })))
    if (error?.code === 'EAGAIN') await sleep(FULL_MS, undefined, { ref: false })
    else if (error) return false
    else if (bytes === rest.length) return true
    else rest = rest.subarray(bytes)
  }
}

/**
 * Notes on the local disk of delivered answers, so that an answer without its charge can be found
 * (`verify-deliveries.ts`). Noting only copies bytes into a buffer; timers write it to the disk, and disk failures
 * never affect a call: lost notes are counted and raise an alarm, and their answers are not compared. A killed process
 * loses the notes of the last tenth of a second, and a failed machine those of the last second.
 */
import { mkdir, open, rename, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../../platform/lib/log.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'
import { processIdentity } from '../../../platform/lib/process-identity.ts'
import { createWriteOrder } from '../spool/append-durably.ts'
import { NOTE_BYTES, putNote, sealNotes } from './note-format.ts'

export interface DeliveryNotes {
  /** Notes an answer once its end, or any part of a stream, was handed to the client. Never throws or waits. */
  note(holdId: string, billedNanoBrl: NanoBrl, flags?: number): void
  /** The number of notes that could not be written. */
  readonly lostCount: number
  /** Resolves once every note is on disk or lost. */
  flush(): Promise<void>
  close(): Promise<void>
}

const BUFFER_BYTES = 64 * 1024
/** Buffers while the disk stalls, 64 kB each, with 2,048 notes. */
const BUFFERS_MAX = 64
const WRITE_EVERY_MS = 100
const SYNC_EVERY_MS = 1_000
const FILE_MS_MAX = 30_000

export async function openDeliveryNotes(options: {
  dir: string
  nodeId: string
  log: Log
}): Promise<DeliveryNotes> {
  const { dir, nodeId, log } = options
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const files = createNoteFiles(join(dir, `${processIdentity()}-${nodeId}`), log)
  const order = createWriteOrder()
  const free: Buffer[] = []
  let made = 1
  let buffer: Buffer | undefined = Buffer.alloc(BUFFER_BYTES)
  let used = 0
  let lostCount = 0
  let timer: NodeJS.Timeout | undefined
  let syncTimer: NodeJS.Timeout | undefined
  let endTimer: NodeJS.Timeout | undefined

  /** Hands the buffer to the disk and starts a new one. */
  function write(): void {
    clearTimeout(timer)
    timer = undefined
    const full = buffer
    const length = used
    if (!full || length === 0) return
    buffer = takeBuffer()
    used = 0
    void order.add(async () => {
      sealNotes(full, length)
      if (!(await files.append(full.subarray(0, length)))) lose(length / NOTE_BYTES)
      if (buffer) free.push(full)
      else buffer = full
      syncTimer ??= setTimeout(sync, SYNC_EVERY_MS).unref()
      endTimer ??= setTimeout(end, FILE_MS_MAX).unref()
    })
  }

  function takeBuffer(): Buffer | undefined {
    const one = free.pop()
    if (one || made >= BUFFERS_MAX) return one
    made += 1
    return Buffer.alloc(BUFFER_BYTES)
  }

  function sync(): void {
    syncTimer = undefined
    void order.add(() => files.sync())
  }

  function end(): void {
    endTimer = undefined
    void order.add(() => files.end())
  }

  function lose(count: number): void {
    lostCount += count
    log.error('delivery_notes_lost', { count })
  }

  return {
    note(holdId, billedNanoBrl, flags = 0) {
      if (!buffer) return lose(1)
      putNote(buffer, used, holdId, billedNanoBrl, flags)
      used += NOTE_BYTES
      if (used === BUFFER_BYTES) write()
      else timer ??= setTimeout(write, WRITE_EVERY_MS).unref()
    },
    get lostCount() {
      return lostCount
    },
    async flush() {
      write()
      await order.add(() => files.sync())
    },
    async close() {
      write()
      await order.add(() => files.end())
      for (const one of [timer, syncTimer, endTimer]) clearTimeout(one)
    },
  }
}

/** The files of one process, one after the other. Nothing here rejects. */
function createNoteFiles(path: string, log: Log) {
  let handle: FileHandle | undefined
  let number = 0

  async function end(): Promise<void> {
    const ended = handle
    if (!ended) return
    handle = undefined
    const name = `${path}.${number}`
    number += 1
    await ended.datasync().catch((error: unknown) => log.error('delivery_notes_failed', { error }))
    await ended.close().catch(() => undefined)
    await rename(`${name}.writing`, `${name}.done`).catch((error: unknown) =>
      log.error('delivery_notes_failed', { error }),
    )
  }

  return {
    end,
    /** False when the write was incomplete: the next notes go to another file. */
    async append(bytes: Buffer): Promise<boolean> {
      try {
        handle ??= await open(`${path}.${number}.writing`, 'a', 0o600)
        await handle.writeFile(bytes)
        return true
      } catch (error) {
        log.error('delivery_notes_failed', { error })
        await end()
        return false
      }
    },
    async sync(): Promise<void> {
      try {
        await handle?.datasync()
      } catch (error) {
        log.error('delivery_notes_failed', { error })
        await end()
      }
    },
  }
}

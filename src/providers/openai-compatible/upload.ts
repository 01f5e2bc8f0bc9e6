import type { UploadedFile } from '../contract.ts'
import type { MultipartForm } from './multipart.ts'

/** The body of a request that carries a file, read from the disk no faster than it is sent. */
export interface Upload {
  readonly bytes: number
  readonly body: AsyncIterable<Buffer>
  /** Sends nothing more, and keeps the connection as it is. */
  hold(): void
  /** To be called at the end of the call, however it ended: closes the file. */
  close(): void
  /** Why the file could not be read as it was told; that is no failure of the upstream. */
  fault(): Error | undefined
}

export function createUpload(form: MultipartForm, file: UploadedFile): Upload {
  const closed = Promise.withResolvers<void>()
  let isHeld = false
  let isClosed = false
  let fault: Error | undefined
  let source: AsyncIterator<Buffer> | undefined

  async function* send(): AsyncGenerator<Buffer> {
    yield form.head
    source = file.read()[Symbol.asyncIterator]()
    let bytesLeft = file.bytes
    for (let part = await source.next(); !part.done; part = await source.next()) {
      bytesLeft -= part.value.length
      if (bytesLeft < 0) break
      if (isHeld) await closed.promise
      if (isClosed) return
      yield part.value
    }
    if (bytesLeft !== 0) throw new Error(`the file is not of ${file.bytes} bytes`)
    yield form.tail
  }

  async function* sendOrTell(): AsyncGenerator<Buffer> {
    try {
      yield* send()
    } catch (error) {
      fault = error as Error
      throw error
    }
  }

  return {
    bytes: form.head.length + file.bytes + form.tail.length,
    body: sendOrTell(),
    hold() {
      isHeld = true
    },
    close() {
      isClosed = true
      closed.resolve()
      // Nothing waits for it: a disk that hangs must not keep a call that has ended.
      void source?.return?.().catch(() => {})
    },
    fault: () => fault,
  }
}

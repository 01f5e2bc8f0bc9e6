import type { UploadedFile } from '../contract.ts'
import type { MultipartForm } from './multipart.ts'

/** The body of a request with a file, read from the disk no faster than it is sent. */
export interface Upload {
  readonly bytes: number
  readonly body: AsyncIterable<Buffer>
  /** Pauses the upload and leaves the connection open. */
  hold(): void
  /** Closes the file; must be called at the end of every call. */
  close(): void
  /** Why the file could not be read at its declared size; this is not a failure of the upstream. */
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
    if (bytesLeft !== 0) throw new Error(`the file does not have ${file.bytes} bytes`)
    yield form.tail
  }

  async function* sendAndRecordFault(): AsyncGenerator<Buffer> {
    try {
      yield* send()
    } catch (error) {
      fault = error as Error
      throw error
    }
  }

  return {
    bytes: form.head.length + file.bytes + form.tail.length,
    body: sendAndRecordFault(),
    hold() {
      isHeld = true
    },
    close() {
      isClosed = true
      closed.resolve()
      // Not awaited: a hanging disk must not delay the end of the call.
      void source?.return?.().catch(() => {})
    },
    fault: () => fault,
  }
}

import { saveFile } from '../lib/save-file.ts'
import { ApiError } from './api-error.ts'
import { refusalOf, send } from './send.ts'
import { forgetSession, knownToken } from './session.ts'

/**
 * Saves an answer of the server as a file. A refused or interrupted download is an ApiError and leaves no file,
 * because half a file must not look complete. `onBytes` gets the number of bytes received so far.
 */
export async function download(
  url: string,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (count: number) => void },
): Promise<void> {
  const token = knownToken()
  const headers = token === undefined ? {} : { 'x-csrf-token': token }
  const answer = await send(url, { signal, headers })
  if (!answer.ok || !answer.body) {
    if (answer.status === 401) forgetSession()
    throw await refusalOf(answer)
  }
  const parts: Blob[] = []
  let count = 0
  const reader = answer.body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw signal.aborted ? error : new ApiError(0, 'network')
    })
    if (done) break
    count += value.byteLength
    // Blobs, which the browser may keep on disk.
    parts.push(new Blob([value]))
    onBytes(count)
  }
  const type = answer.headers.get('content-type') ?? ''
  saveFile(new Blob(parts, { type }), nameOf(answer))
}

function nameOf({ headers }: Response): string {
  const name = /filename="([^"]+)"/.exec(headers.get('content-disposition') ?? '')?.[1]
  return name ?? 'catraca'
}

import { saveFile } from '../lib/save-file.ts'
import { ApiError } from './api-error.ts'
import { refusalOf, send } from './send.ts'
import { forgetSession } from './session.ts'

/**
 * Saves what an address of ours answers as a file. What is refused, or breaks off, is an ApiError and no file: half
 * of one must not look whole. `onBytes` hears how much has come so far.
 */
export async function download(
  url: string,
  { signal, onBytes }: { signal: AbortSignal; onBytes: (count: number) => void },
): Promise<void> {
  const answer = await send(url, { signal })
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
    // As blobs, which the browser may put on the disk.
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

import { guardedFetch } from '../../platform/lib/guarded-fetch.ts'
import type { ChatCall, UpstreamFailure } from './contract.ts'
import { NotSent } from './read-failure.ts'

/** Thrown when a file is not downloaded. The message names neither the address nor its content. */
export class DownloadRefused extends Error {
  override readonly name = 'DownloadRefused'
}

/** Thrown when a document is not downloaded: every upstream gets its content, so no other one would take the request. */
export class DocumentRefused extends DownloadRefused {}

/** Thrown when the memory for the calls of this customer, or of the node, is used up. */
export class NoRoomForDownload extends Error {
  override readonly name = 'NoRoomForDownload'
}

/** Returns the failure of a call whose download failed; undefined for any other error. */
export function readDownloadFailure(error: unknown): UpstreamFailure | undefined {
  if (error instanceof NoRoomForDownload)
    return { kind: 'failure', reason: 'no_room', detail: error.message, isUnsent: true }
  if (!(error instanceof DownloadRefused)) return undefined
  return {
    kind: 'failure',
    reason: error instanceof DocumentRefused ? 'refused_request' : 'unsupported',
    detail: error.message,
    requestFault: 'address_refused',
    isUnsent: true,
  }
}

export interface DownloadedFile {
  readonly mediaType: string
  readonly body: Buffer
}

export type DownloadFile = (url: string) => Promise<DownloadedFile>

/** The most data that is downloaded for one request. */
const BYTES_MAX = 50 * 1024 * 1024
/** The time for all files of a request: a call that downloads images holds a place at its route meanwhile. */
const TIMEOUT_MS = 20_000
const FILES_MAX = 20

/**
 * Downloads the files of one request, one after the other, from public addresses: an upstream of the operator's own
 * network could reach more. Rejects with a `DownloadRefused` or a `NoRoomForDownload`, or after an abort with `NotSent`.
 */
export function createDownloadFile(
  signal: AbortSignal,
  allowPrivate: boolean,
  takeBytes: ChatCall['takeBytes'],
  bytesMax = BYTES_MAX,
): DownloadFile {
  const endsAtMs = performance.now() + TIMEOUT_MS
  let bytesLeft = bytesMax
  let filesLeft = FILES_MAX
  return async function downloadFile(url) {
    if (filesLeft-- <= 0) throw new DownloadRefused('too many files to download')
    const msLeft = Math.ceil(endsAtMs - performance.now())
    if (msLeft <= 0) throw new DownloadRefused('the files took too long')
    const { status, mediaType, body } = await guardedFetch(url, {
      bytesMax: bytesLeft,
      timeoutMs: msLeft,
      signal,
      allowPrivate,
      takeBytes,
    }).catch((error: unknown) => {
      if (signal.aborted) throw new NotSent(error)
      const reason = (error as { reason?: unknown }).reason
      if (reason === 'no_room') throw new NoRoomForDownload('a file does not fit into the memory')
      throw new DownloadRefused(`a file could not be downloaded: ${String(reason)}`)
    })
    if (status !== 200) throw new DownloadRefused(`a file could not be downloaded: ${status}`)
    bytesLeft -= body.length
    return { mediaType, body }
  }
}

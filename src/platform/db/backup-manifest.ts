import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

export const MANIFEST = 'backup.json'
export const CLUSTER = 'cluster'
export const PASSWORD = 'password'

/** A backup of the embedded database: a folder with the files of the cluster, its password, and this list of them. */
export interface BackupManifest {
  readonly format: 1
  readonly startedAt: string
  /** A restore of this backup alone has what was committed until then. */
  readonly endedAt: string
  /** As PostgreSQL names positions in its WAL. */
  readonly startLsn: string
  readonly stopLsn: string
  readonly postgresVersion: string
  readonly files: readonly BackupFile[]
  /** Empty folders too, which PostgreSQL expects. */
  readonly folders: readonly string[]
}

export interface BackupFile {
  /** Within the backup, with slashes. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

export class BackupFault extends Error {}

export async function readManifest(folder: string): Promise<BackupManifest> {
  let text: string
  try {
    text = await readFile(join(folder, MANIFEST), 'utf8')
  } catch {
    throw new BackupFault(`${folder} is no backup: it has no ${MANIFEST}`)
  }
  const manifest = JSON.parse(text) as BackupManifest
  if (manifest.format !== 1)
    throw new BackupFault(`${folder} is of a release that this one cannot read`)
  return manifest
}

/** Copies a file to the disk; the result describes what was written. */
export async function copyFileDurably(
  from: string,
  to: string,
): Promise<Pick<BackupFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256')
  let bytes = 0
  await pipeline(
    createReadStream(from),
    async function* (parts: AsyncIterable<Buffer>) {
      for await (const part of parts) {
        hash.update(part)
        bytes += part.length
        yield part
      }
    },
    createWriteStream(to, { mode: 0o600, flags: 'wx', flush: true }),
  )
  return { bytes, sha256: hash.digest('hex') }
}

/** Checks a file of a backup. Throws a `BackupFault` if the file is not as the manifest says. */
export async function checkFile(
  folder: string,
  { path, bytes, sha256 }: BackupFile,
): Promise<void> {
  const hash = createHash('sha256')
  let read = 0
  try {
    for await (const part of createReadStream(join(folder, path))) {
      hash.update(part as Buffer)
      read += (part as Buffer).length
    }
  } catch (error) {
    throw new BackupFault(`${path} of the backup cannot be read`, { cause: error })
  }
  if (read !== bytes || hash.digest('hex') !== sha256)
    throw new BackupFault(`${path} of the backup is not as it was written`)
}

/** A name in a folder survives a power failure only after this. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

import { resolve } from 'node:path'
import type { ArchiveStore } from '../../platform/archive/archive-store.ts'
import {
  createEventArchive,
  READINGS_MAX,
  type EventArchive,
} from '../../platform/archive/event-archive.ts'
import { openFolderStore } from '../../platform/archive/folder-store.ts'
import { openS3Store, type S3Settings } from '../../platform/archive/s3-store.ts'
import { type SharedRunning, createShare } from '../../platform/admission/share.ts'
import { MONTHS_KEPT_MIN } from '../../money/months/find-obstacle.ts'
import type { Environment, EnvironmentReader } from './environment-reader.ts'

export interface ArchiveSettings {
  readonly place: { readonly dir: string } | { readonly s3: S3Settings }
  /** Undefined: months leave by the command line only. */
  readonly afterMonths: number | undefined
}

/** Where months leave to; undefined: they stay in the database. */
export function resolveArchive(
  environment: Environment,
  read: EnvironmentReader,
  folder: string,
  faults: string[],
): ArchiveSettings | undefined {
  const dir = environment.ARCHIVE_DIR || undefined
  const url = environment.ARCHIVE_S3_URL || undefined
  const s3 = {
    region: environment.ARCHIVE_S3_REGION || 'us-east-1',
    accessKeyId: environment.ARCHIVE_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: environment.ARCHIVE_S3_SECRET_ACCESS_KEY ?? '',
  }
  const afterMonths = read.wholeIfSet('ARCHIVE_AFTER_MONTHS', MONTHS_KEPT_MIN, 120)
  if (dir !== undefined && url !== undefined)
    faults.push('ARCHIVE_S3_URL: months leave to one place, and ARCHIVE_DIR is set')
  if (dir === undefined && url === undefined && afterMonths !== undefined)
    faults.push('ARCHIVE_AFTER_MONTHS: needs ARCHIVE_DIR or ARCHIVE_S3_URL')
  if (url !== undefined && !isBucket(url))
    faults.push(
      'ARCHIVE_S3_URL: must be the address of a bucket, such as https://s3.example.com/bucket, without a password and a query',
    )
  if (url !== undefined && (s3.accessKeyId === '' || s3.secretAccessKey === ''))
    faults.push(
      'ARCHIVE_S3_ACCESS_KEY_ID, ARCHIVE_S3_SECRET_ACCESS_KEY: are needed with ARCHIVE_S3_URL',
    )
  if (dir !== undefined) return { place: { dir: resolve(folder, dir) }, afterMonths }
  return url === undefined ? undefined : { place: { s3: { url, ...s3 } }, afterMonths }
}

/** Nothing in it is secret: errors and reports name the place. */
function isBucket(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password || /[?#]/.test(text)) return false
  return /^https?:$/.test(url.protocol) && url.pathname.length > 1
}

/** Opens the archive. `running` is how many read it in the other processes of this server. */
export function openArchive(settings: ArchiveSettings, running?: SharedRunning): EventArchive {
  return createEventArchive(
    openArchiveStore(settings),
    createShare({ ownMax: READINGS_MAX }, running),
  )
}

export function openArchiveStore({ place }: ArchiveSettings): ArchiveStore {
  return 'dir' in place ? openFolderStore(place.dir) : openS3Store(place.s3)
}

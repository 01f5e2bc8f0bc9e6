/** Where archived files are: names are paths with `/`, and a file is never written twice under one name. */
export interface ArchiveStore {
  /** As operators know it: a folder, or a bucket. */
  readonly place: string
  /** Stores the local file durably, before it resolves. */
  put(name: string, localPath: string): Promise<void>
  /**
   * A local path of the stored file, until `release`. Throws a `MissingFile` if there is none. `bytes` is the size of the
   * file that was archived: a longer one may be cut, but stays longer.
   */
  take(name: string, bytes: number): Promise<LocalFile>
  /** Names that begin with the folder's name and a `/`. A missing folder has none. */
  list(folder: string): Promise<string[]>
  remove(name: string): Promise<void>
}

export interface LocalFile {
  readonly path: string
  release(): Promise<void>
}

export class MissingFile extends Error {
  constructor(name: string) {
    super(`the archive has no file ${name}`)
  }
}

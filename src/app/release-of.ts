import { isAbsolute, join } from 'node:path'
import { existsSync, readFileSync } from 'node:fs'
import type { Release } from '../money/ledger/lease.ts'
import type { Config } from './config/config.ts'
import { PROGRAM_VERSION } from './program-version.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Returns the release that this process runs. An image names its build; a checkout has its commit. */
export function releaseOf({ build }: Pick<Config, 'build'>): Release {
  return { version: PROGRAM_VERSION, build: build ?? findCommit(ROOT) }
}

/**
 * Returns the commit that is checked out in `folder`, abbreviated; undefined without a checkout, as in an image. Read
 * from git's files, because a server has no git. It does not tell whether files were changed since.
 */
export function findCommit(folder: string): string | undefined {
  try {
    const gitFolder = findGitFolder(join(folder, '.git'))
    const head = read(join(gitFolder, 'HEAD'))
    const name = /^ref: (.+)$/.exec(head)?.[1]
    const commit = name === undefined ? head : findReference(gitFolder, name)
    return commit && /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, 12) : undefined
  } catch {
    return undefined
  }
}

/** A file in the place of the folder names the folder of a work tree. */
function findGitFolder(path: string): string {
  try {
    const named = /^gitdir: (.+)$/.exec(read(path))?.[1]
    if (named === undefined) return path
    return isAbsolute(named) ? named : join(path, '..', named)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EISDIR') return path
    throw error
  }
}

/** Branches of a work tree are in the folder of its repository; packed ones are lines of one file. */
function findReference(gitFolder: string, name: string): string | undefined {
  const common = join(gitFolder, 'commondir')
  const shared = existsSync(common) ? join(gitFolder, read(common)) : gitFolder
  for (const folder of [gitFolder, shared]) {
    const path = join(folder, name)
    if (existsSync(path)) return read(path)
  }
  const packed = readFileSync(join(shared, 'packed-refs'), 'utf8').split('\n')
  return packed.find((line) => line.endsWith(` ${name}`))?.split(' ', 1)[0]
}

function read(path: string): string {
  return readFileSync(path, 'utf8').trim()
}

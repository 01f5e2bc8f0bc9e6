/**
 * A spool file, as its owning process knows it. The name contains the owning process, the node that created the file,
 * and a number. A process numbers its files above all that exist when it starts, so a higher number is a later file.
 */
import { join } from 'node:path'
import * as fs from 'node:fs/promises'
import { readFrames, type SpoolContents } from './record-frames.ts'
import type { ResolutionRow } from '../resolution.ts'

/** The file system; tests pass one that fails. */
export type Disk = Pick<
  typeof fs,
  'mkdir' | 'open' | 'readdir' | 'readFile' | 'rename' | 'stat' | 'unlink'
>

export const DISK: Disk = fs

/** Syncs a folder: creating, renaming or deleting a file in it survives a power failure only then. */
export async function syncFolder(disk: Disk, dir: string): Promise<void> {
  const folder = await disk.open(dir, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Does nothing if the file does not exist. */
export async function deleteFile(disk: Disk, path: string): Promise<void> {
  try {
    await disk.unlink(path)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}

export interface SpoolFile {
  readonly path: string
  readonly name: string
  readonly number: number
  isOnDisk: boolean
  /** The end of the last acknowledged record. */
  end: number
  /** A failed write could not be cut off: bytes beyond `end` may be whole records. */
  hasTail: boolean
  /** It has unreadable bytes that are not set aside yet. */
  hasBad: boolean
  /** Holds with any record in this file. */
  holdsInFile: number
  /** Holds whose newest record is in this file and still waits. */
  waiting: number
  /** No row in it is due earlier, by the clock of the spool. */
  retryAt: number
  isAlarmed: boolean
}

export interface FileName {
  readonly name: string
  readonly writtenBy: string
  readonly rest: string
  readonly number: number
}

const FILE_NAME = /^(\d+\.\d+)(-[0-9a-f-]{36}\.(\d+)\.spool)$/

export function parseFileName(name: string): FileName | undefined {
  const match = FILE_NAME.exec(name)
  if (!match) return undefined
  return {
    name,
    writtenBy: match[1] as string,
    rest: match[2] as string,
    number: Number(match[3]),
  }
}

export function describeFile(dir: string, name: string, number: number): SpoolFile {
  return {
    path: join(dir, name),
    name,
    number,
    isOnDisk: false,
    end: 0,
    hasTail: false,
    hasBad: false,
    holdsInFile: 0,
    waiting: 0,
    retryAt: 0,
    isAlarmed: false,
  }
}

export interface ReadFile {
  readonly bytes: Buffer
  readonly contents: SpoolContents
  /** Unacknowledged rows that another process would find in the file. */
  readonly tail: readonly ResolutionRow[]
}

/** Reads a file of the spool up to its known end, and what follows it; undefined if the file does not exist. */
export async function readSpoolFile(disk: Disk, file: SpoolFile): Promise<ReadFile | undefined> {
  try {
    const all = await disk.readFile(file.path)
    const bytes = all.subarray(0, file.end)
    return { bytes, contents: readFrames(bytes), tail: readFrames(all.subarray(file.end)).rows }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** A small file system that can be filled to the last page. Needs root on Linux. */
import { execFileSync } from 'node:child_process'
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

export interface FillableDisk {
  /**
   * Fills it except for this many bytes, rounded to pages of 4 KiB: the next write breaks off in the middle.
   */
  fill(bytesLeft: number): void
  empty(): void
  unmount(): void
}

const BYTES = 4 * 1024 * 1024
const BALLAST = 'ballast'

/**
 * Undefined on machines that cannot mount a file system; then nothing fills the disk, and the report says so.
 */
export function mountDisk(folder: string): FillableDisk | undefined {
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${BYTES}`, 'catraca-faults', folder], {
      stdio: 'ignore',
    })
  } catch {
    return undefined
  }
  return {
    fill(bytesLeft) {
      const file = openSync(join(folder, BALLAST), 'w')
      const chunk = Buffer.alloc(4096)
      let written = 0
      try {
        for (;;) written += writeSync(file, chunk)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        ftruncateSync(file, Math.max(0, written - bytesLeft))
        closeSync(file)
      }
    },
    empty: () => rmSync(join(folder, BALLAST), { force: true }),
    // Lazily: a killed node may take a moment to close its files.
    unmount: () => void execFileSync('umount', ['-l', folder]),
  }
}

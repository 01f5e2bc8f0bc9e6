import type { FileHandle } from 'node:fs/promises'
import { DISK, type Disk } from '../../../src/money/ledger/spool/spool-file.ts'

export type DiskStep = 'open' | 'write' | 'datasync' | 'sync' | 'truncate' | 'rename' | 'unlink'

export interface FailingDisk {
  readonly disk: Disk
  /** Whether the next step of this kind fails. A failing write may have written a part. */
  fails: (step: DiskStep) => boolean
}

/**
 * The real disk, with steps that fail. A sync that does not fail does nothing: no test of the spool cuts the power,
 * and data in the kernel survives the process.
 */
export function createFailingDisk(partOf: (bytes: number) => number): FailingDisk {
  const failing: FailingDisk = {
    fails: () => false,
    disk: {
      ...DISK,
      open: async (...args: Parameters<Disk['open']>) => {
        check('open')
        return wrap(await DISK.open(...args))
      },
      rename: async (...args: Parameters<Disk['rename']>) => {
        check('rename')
        return DISK.rename(...args)
      },
      unlink: async (...args: Parameters<Disk['unlink']>) => {
        check('unlink')
        return DISK.unlink(...args)
      },
    },
  }

  function check(step: DiskStep): void {
    if (failing.fails(step)) throw Object.assign(new Error(`no ${step}`), { code: 'EIO' })
  }

  function wrap(handle: FileHandle): FileHandle {
    const write = async (bytes: Buffer, offset: number, length: number, position: number) => {
      if (!failing.fails('write')) return handle.write(bytes, offset, length, position)
      const part = partOf(length)
      if (part > 0) await handle.write(bytes, offset, part, position)
      throw Object.assign(new Error('no room'), { code: 'ENOSPC' })
    }
    return {
      write,
      async writeFile(bytes: Buffer) {
        await write(bytes, 0, bytes.length, 0)
      },
      async datasync() {
        check('datasync')
      },
      async sync() {
        check('sync')
      },
      async truncate(size: number) {
        check('truncate')
        await handle.truncate(size)
      },
      stat: () => handle.stat(),
      close: () => handle.close(),
    } as unknown as FileHandle
  }
  return failing
}

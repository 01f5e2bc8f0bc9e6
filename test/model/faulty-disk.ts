/**
 * Folders whose disk is full: files that are opened there by `node:fs/promises` take as many bytes as are left, and
 * fail as the system's do, with the part that fitted written. The imports of this process see it, since Node.js can
 * synchronise them; nothing is changed in the code under test.
 */
import fsPromises, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'

const bytesLeft = new Map<string, number>()
const realOpen = fsPromises.open

/** From now on. */
export function fillDisk(folder: string, bytes: number): void {
  install()
  bytesLeft.set(folder, bytes)
}

export function emptyDisk(folder: string): void {
  bytesLeft.delete(folder)
}

function install(): void {
  if (fsPromises.open !== realOpen) return
  fsPromises.open = async (path, flags, mode) => {
    const handle = await realOpen(path, flags, mode)
    return limited(handle, dirname(String(path)))
  }
  syncBuiltinESMExports()
}

/** Every way to write goes through here, with as much as still fits. */
function limited(handle: FileHandle, folder: string): FileHandle {
  const write = handle.write.bind(handle) as (buffer: Buffer) => Promise<unknown>
  const writeWhatFits = async (data: Buffer): Promise<void> => {
    const left = bytesLeft.get(folder)
    if (left === undefined) return void (await write(data))
    const fits = data.subarray(0, left)
    bytesLeft.set(folder, left - fits.length)
    if (fits.length > 0) await write(fits)
    if (fits.length < data.length)
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const whole = async (data: unknown): Promise<void> => {
    await writeWhatFits(Buffer.isBuffer(data) ? data : Buffer.from(String(data)))
  }
  handle.appendFile = whole as FileHandle['appendFile']
  handle.writeFile = whole as FileHandle['writeFile']
  handle.write = (async (data: unknown) => {
    await whole(data)
    return { bytesWritten: (data as Buffer).length, buffer: data }
  }) as FileHandle['write']
  handle.writev = (async (parts: readonly Uint8Array[]) => {
    const data = Buffer.concat(parts)
    await whole(data)
    return { bytesWritten: data.length, buffers: parts }
  }) as FileHandle['writev']
  return handle
}

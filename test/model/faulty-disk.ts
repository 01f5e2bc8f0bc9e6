/**
 * Folders whose disk is full: files that `node:fs/promises` opens there accept as many bytes as are left, and then
 * fail as the system's files do, with the part that fitted written. The imports of this process see it, because
 * Node.js can synchronise them; the code under test is unchanged.
 */
import fsPromises, { type FileHandle } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'

const bytesLeft = new Map<string, number>()
const realOpen = fsPromises.open

/** The remaining bytes from now on. */
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

type Write = (
  bytes: Buffer,
  offset: number,
  length: number,
  position: number | null,
) => Promise<unknown>

/** Every write passes through here, with as much as still fits. */
function limited(handle: FileHandle, folder: string): FileHandle {
  const realWrite = handle.write.bind(handle) as Write
  const write: Write = async (bytes, offset, length, position) => {
    const left = bytesLeft.get(folder) ?? length
    const fits = Math.min(left, length)
    if (bytesLeft.has(folder)) bytesLeft.set(folder, left - fits)
    if (fits > 0) await realWrite(bytes, offset, fits, position)
    if (fits === length) return { bytesWritten: length, buffer: bytes }
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  }
  const writeText = async (data: unknown): Promise<void> => {
    const bytes = Buffer.isBuffer(data) ? data : Buffer.from(String(data))
    await write(bytes, 0, bytes.length, null)
  }
  handle.appendFile = writeText as FileHandle['appendFile']
  handle.writeFile = writeText as FileHandle['writeFile']
  handle.write = ((bytes: Buffer, offset = 0, length = bytes.length, position = null) =>
    write(bytes, offset, length, position)) as FileHandle['write']
  return handle
}

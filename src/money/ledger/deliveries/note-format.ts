/**
 * A note of a delivered answer, 32 bytes: the id of its hold (16), the billed nano-BRL that the client
 * received (8, signed, little-endian), flags (4), and the CRC-32 of these (4). The name of a file contains the
 * process and the node that write it; `.writing` becomes `.done` when the file is complete.
 */
import { crc32 } from 'node:zlib'
import type { NanoBrl } from '../../../platform/lib/money.ts'

export const NOTE_BYTES = 32
const FLAGS_AT = 24
const CRC_AT = 28

export interface DeliveryNote {
  readonly holdId: string
  readonly deliveredNanoBrl: NanoBrl
}

export interface NoteFileName {
  readonly name: string
  readonly writtenBy: string
  readonly nodeId: string
  readonly isDone: boolean
}

const FILE_NAME = /^(\d+\.\d+)-([0-9a-f-]{36})\.\d+\.(writing|done)$/

export function parseNoteFileName(name: string): NoteFileName | undefined {
  const match = FILE_NAME.exec(name)
  if (!match) return undefined
  const [, writtenBy, nodeId, state] = match as unknown as [string, string, string, string]
  return { name, writtenBy, nodeId, isDone: state === 'done' }
}

/**
 * Writes a note into the buffer, without its checksum, which `sealNotes` adds. It is on the hot path and allocates
 * nothing.
 */
export function putNote(
  buffer: Buffer,
  at: number,
  holdId: string,
  billed: NanoBrl,
  flags: number,
): void {
  let byte = at
  for (let from = 0; from < 36; from += 2) {
    // The dashes of 8-4-4-4-12.
    if (holdId.charCodeAt(from) === DASH) from += 1
    buffer[byte++] =
      ((DIGITS[holdId.charCodeAt(from)] as number) << 4) |
      (DIGITS[holdId.charCodeAt(from + 1)] as number)
  }
  buffer.writeBigInt64LE(billed, at + 16)
  buffer.writeUInt32LE(flags, at + FLAGS_AT)
}

/** Writes the checksums of the notes in the first `length` bytes. */
export function sealNotes(buffer: Buffer, length: number): void {
  for (let at = 0; at < length; at += NOTE_BYTES) {
    buffer.writeUInt32LE(crc32(buffer.subarray(at, at + CRC_AT)), at + CRC_AT)
  }
}

/** A truncated note at the end of a file was lost with the write that failed, which raised an alarm. */
export function readNotes(bytes: Buffer): { notes: DeliveryNote[]; badCount: number } {
  const notes: DeliveryNote[] = []
  let badCount = 0
  for (let at = 0; at + NOTE_BYTES <= bytes.length; at += NOTE_BYTES) {
    if (crc32(bytes.subarray(at, at + CRC_AT)) === bytes.readUInt32LE(at + CRC_AT)) {
      const hex = bytes.toString('hex', at, at + 16)
      const holdId = [
        [0, 8],
        [8, 12],
        [12, 16],
        [16, 20],
        [20, 32],
      ]
        .map(([from, to]) => hex.slice(from, to))
        .join('-')
      notes.push({ holdId, deliveredNanoBrl: bytes.readBigInt64LE(at + 16) })
    } else badCount += 1
  }
  return { notes, badCount }
}

const DASH = 45
/** The value of a hexadecimal digit, by its character code. */
const DIGITS = new Uint8Array(128)
for (let value = 0; value < 16; value++) {
  DIGITS[value.toString(16).charCodeAt(0)] = value
  DIGITS[value.toString(16).toUpperCase().charCodeAt(0)] = value
}

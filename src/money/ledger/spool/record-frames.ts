/**
 * The format of a spool file. A record is `RS length crc json LF`: the control character RS (as in RFC 7464, JSON never
 * contains it unescaped), the bytes of the JSON and their CRC-32 as 8 hexadecimal digits each, and a line feed. After
 * any garbage the reader finds the next RS whose length and checksum are right. JSON has no line feed either, so an end
 * without one is an unfinished write.
 */
import { crc32 } from 'node:zlib'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { ResolutionRow } from '../resolution.ts'

export interface SpoolContents {
  /** In the order of writing. */
  readonly rows: readonly ResolutionRow[]
  /** Unreadable bytes, without an unfinished record at the end of the file. */
  readonly bad: readonly Span[]
  /** Bytes of an unfinished record at the end of the file, which was never acknowledged. */
  readonly tornBytes: number
}

export interface Span {
  readonly start: number
  readonly end: number
}

const RS = 0x1e
const LF = 0x0a
/** RS, length, checksum. */
const HEAD_BYTES = 17

export function frameRow(row: ResolutionRow): string {
  const json = JSON.stringify(row)
  return `\x1e${hex(Buffer.byteLength(json))}${hex(crc32(json))}${json}\n`
}

export function readFrames(bytes: Buffer): SpoolContents {
  const rows: ResolutionRow[] = []
  const bad: Span[] = []
  let badStart = -1
  for (let at = 0; at < bytes.length;) {
    const record = readRecord(bytes, at)
    if (record) {
      if (badStart >= 0) bad.push({ start: badStart, end: at })
      badStart = -1
      rows.push(record.row)
      at = record.end
    } else {
      if (badStart < 0) badStart = at
      const next = bytes.indexOf(RS, at + 1)
      at = next < 0 ? bytes.length : next
    }
  }
  if (badStart < 0) return { rows, bad, tornBytes: 0 }
  const isTorn = bytes[badStart] === RS && !bytes.includes(LF, badStart)
  if (!isTorn) bad.push({ start: badStart, end: bytes.length })
  return { rows, bad, tornBytes: isTorn ? bytes.length - badStart : 0 }
}

function readRecord(bytes: Buffer, at: number): { row: ResolutionRow; end: number } | undefined {
  if (bytes[at] !== RS || at + HEAD_BYTES > bytes.length) return undefined
  const head = bytes.toString('latin1', at + 1, at + HEAD_BYTES)
  if (!/^[0-9a-f]{16}$/.test(head)) return undefined
  const start = at + HEAD_BYTES
  const end = start + Number.parseInt(head.slice(0, 8), 16)
  if (end >= bytes.length || bytes[end] !== LF) return undefined
  const json = bytes.subarray(start, end)
  if (crc32(json) !== Number.parseInt(head.slice(8), 16)) return undefined
  const row = parseRow(json)
  return row && { row, end: end + 1 }
}

function parseRow(json: Buffer): ResolutionRow | undefined {
  try {
    const row: unknown = JSON.parse(json.toString('utf8'))
    if (!isObject(row)) return undefined
    const isRow = [row.id, row.customer_id, row.outcome].every((text) => typeof text === 'string')
    return isRow ? (row as unknown as ResolutionRow) : undefined
  } catch {
    return undefined
  }
}

function hex(number: number): string {
  return number.toString(16).padStart(8, '0')
}

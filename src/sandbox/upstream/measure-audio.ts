/** Measures a file while it passes by, and keeps nothing of it. */
export interface AudioMeter {
  /** The next bytes of the file. */
  push(part: Buffer): void
  readonly bytes: number
  /** Seconds: of a WAV what its header says, of anything else an estimate from its size. */
  readSeconds(): number
}

/** 32 kbit/s, as speech is often compressed. */
const BYTES_PER_SECOND_OTHERWISE = 4000
const FILE_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
/** Of the chunk `fmt `, what all its versions have in common. */
const FORMAT_BYTES = 16

type State = 'file_header' | 'chunk_header' | 'format' | 'data' | 'not_wav'

const HEADER_BYTES: Partial<Record<State, number>> = {
  file_header: FILE_HEADER_BYTES,
  chunk_header: CHUNK_HEADER_BYTES,
  format: FORMAT_BYTES,
}

export function createAudioMeter(): AudioMeter {
  let state: State = 'file_header'
  let bytes = 0
  /** The beginning of a header whose rest comes with the next part. */
  let held = Buffer.alloc(0)
  let skipBytes = 0
  let skipAfterFormat = 0
  let bytesPerSecond = 0
  let dataBytesDeclared = 0
  let dataStart = 0

  function readHeader(header: Buffer): void {
    if (state === 'file_header') {
      const isWav =
        /^(RIFF|RF64)$/.test(header.toString('latin1', 0, 4)) &&
        header.toString('latin1', 8, 12) === 'WAVE'
      state = isWav ? 'chunk_header' : 'not_wav'
    } else if (state === 'format') {
      bytesPerSecond = header.readUInt32LE(8)
      skipBytes = skipAfterFormat
      state = 'chunk_header'
    } else {
      readChunkHeader(header.toString('latin1', 0, 4), header.readUInt32LE(4))
    }
  }

  function readChunkHeader(id: string, size: number): void {
    // A chunk of odd length is followed by a byte that belongs to nobody.
    const padded = size + (size % 2)
    if (id === 'data') {
      dataBytesDeclared = size
      state = 'data'
    } else if (id === 'fmt ') {
      skipAfterFormat = padded - FORMAT_BYTES
      state = size >= FORMAT_BYTES ? 'format' : 'not_wav'
    } else {
      skipBytes = padded
    }
  }

  return {
    push(part) {
      const start = bytes
      bytes += part.length
      let offset = 0
      for (;;) {
        const skipped = Math.min(skipBytes, part.length - offset)
        skipBytes -= skipped
        offset += skipped
        const wanted = HEADER_BYTES[state]
        if (wanted === undefined || offset === part.length) return
        const taken = part.subarray(offset, offset + wanted - held.length)
        offset += taken.length
        held = Buffer.concat([held, taken])
        if (held.length < wanted) return
        const header = held
        held = Buffer.alloc(0)
        readHeader(header)
        if (state === 'data') dataStart = start + offset
      }
    },
    get bytes() {
      return bytes
    },
    readSeconds() {
      if (state !== 'data' || bytesPerSecond === 0) return bytes / BYTES_PER_SECOND_OTHERWISE
      // Who writes to a pipe cannot know the size in advance, and leaves 0 or the largest number.
      const received = bytes - dataStart
      const data = dataBytesDeclared === 0 ? received : Math.min(dataBytesDeclared, received)
      return data / bytesPerSecond
    },
  }
}

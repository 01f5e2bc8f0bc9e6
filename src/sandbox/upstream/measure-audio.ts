/** The first bytes of the formats that transcription services take. Empty places are not looked at. */
const BEGINNINGS: readonly (readonly [at: number, bytes: Buffer])[] = [
  [0, Buffer.from('RIFF')],
  [0, Buffer.from('RF64')],
  [0, Buffer.from('ID3')],
  [0, Buffer.from('OggS')],
  [0, Buffer.from('fLaC')],
  [0, Buffer.from('#!AMR')],
  // WebM and Matroska
  [0, Buffer.from('1a45dfa3', 'hex')],
  // MP4 and M4A
  [4, Buffer.from('ftyp')],
]
const BEGINNING_BYTES = 12

/** Whether a file begins like audio; random bytes do not, but for one in a thousand. */
export function isAudio(beginning: Buffer): boolean {
  // MP3 and AAC without a header of the file begin with eleven bits of a frame.
  const isFrame = beginning[0] === 0xff && ((beginning[1] ?? 0) & 0xe0) === 0xe0
  return (
    isFrame ||
    BEGINNINGS.some(([at, bytes]) => beginning.subarray(at, at + bytes.length).equals(bytes))
  )
}

/** Measures an audio file as a stream and keeps none of it. */
export interface AudioMeter {
  /** The next bytes of the file. */
  push(part: Buffer): void
  readonly bytes: number
  /** The beginning of the file, long enough to show its format. */
  readonly beginning: Buffer
  /** The length in seconds: from the header of a WAV file, or, of any other file, the least that its size allows. */
  readSeconds(): number
}

/** 512 kbit/s, more than compressed sound has: a provider bills no more seconds than the file has. */
const BYTES_PER_SECOND_OTHERWISE = 64_000
const FILE_HEADER_BYTES = 12
const CHUNK_HEADER_BYTES = 8
/** The part of the chunk `fmt ` that all its versions share. */
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
  let beginning = Buffer.alloc(0)
  /** The start of a header whose rest comes with the next part. */
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
    // A chunk of odd length is followed by a padding byte.
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
      if (bytes < BEGINNING_BYTES)
        beginning = Buffer.concat([beginning, part.subarray(0, BEGINNING_BYTES - bytes)])
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
    get beginning() {
      return beginning
    },
    readSeconds() {
      if (state !== 'data' || bytesPerSecond === 0) return bytes / BYTES_PER_SECOND_OTHERWISE
      // A program that writes to a pipe does not know the size in advance, and declares 0 or the maximum.
      const received = bytes - dataStart
      const data = dataBytesDeclared === 0 ? received : Math.min(dataBytesDeclared, received)
      return data / bytesPerSecond
    },
  }
}

/**
 * Bounds the length of an audio file. Exact for uncompressed samples. For compressed formats, the bound is the audio
 * that a decoder would produce, or the length that the container declares if that is longer; in MP4, silence can exceed
 * it. Other formats and files that no encoder writes are unbounded: then the hold covers the longest audio that the model
 * accepts.
 */
import { hasAacFrames } from './has-aac-frames.ts'
import { flacSeconds } from './flac-seconds.ts'
import { mp3DeclaredSeconds } from './mp3-declared-seconds.ts'
import { mp4Seconds } from './mp4-seconds.ts'
import { oggSeconds } from './ogg-seconds.ts'
import { pcmBytesPerSecond } from './pcm-bytes-per-second.ts'
import { openWindow, type AudioFile, type AudioWindow } from './audio-window.ts'
import { webmSeconds } from './webm-seconds.ts'

export interface AudioLength {
  /** Never less than the true length, unless `mayBeLonger`; infinite if nothing bounds it. */
  readonly secondsMax: number
  /** An estimate of the true length, for when the upstream reports none. */
  readonly secondsTypical: number
  /** Whether the file may hide silence, of at most 35 times `secondsMax`: see `mp4Seconds`. */
  readonly mayBeLonger?: boolean
}

/** Enough for the chunks before the samples of a WAV file. */
const HEAD_BYTES = 4_096
/** The lowest bitrate of MPEG audio, 8 kbit/s. Every frame declares its bitrate, even silence. */
const MP3_BYTES_PER_SECOND_MIN = 1_000
/** 128 kbit/s. */
const BYTES_PER_SECOND_TYPICAL = 16_000
const ID3_HEADER_BYTES = 10
const TAGS_MAX = 8
/** A decoder guesses the format of a file with a longer tag from the bytes of the tag. Only MP3 files have such tags. */
const TAG_BYTES_MAX = 512 * 1024

export async function measureAudio(file: AudioFile): Promise<AudioLength> {
  const start = await skipTags(file)
  if (start === undefined) return withinBound(file.bytes, Infinity)
  const audio = openWindow(file, start)
  const head = await audio.read(0, HEAD_BYTES)
  const declared = mp3DeclaredSeconds(head)
  if (declared !== undefined) {
    const mp3Seconds = Math.max(declared, file.bytes / MP3_BYTES_PER_SECOND_MIN)
    return withinBound(file.bytes, (await hasAacFrames(openWindow(file))) ? Infinity : mp3Seconds)
  }
  if (start > TAG_BYTES_MAX) return withinBound(file.bytes, Infinity)
  const rate = pcmBytesPerSecond(head)
  if (rate !== undefined) {
    const seconds = Math.ceil(file.bytes / rate)
    return { secondsMax: seconds, secondsTypical: seconds }
  }
  if (head.toString('latin1', 4, 8) === 'ftyp') {
    const seconds = await mp4Seconds(file, start)
    return { ...withinBound(file.bytes, seconds), mayBeLonger: seconds < Infinity }
  }
  return withinBound(file.bytes, await containedSeconds(audio, head))
}

async function containedSeconds(audio: AudioWindow, head: Buffer): Promise<number> {
  const prefix = head.toString('latin1', 0, 8)
  if (prefix.startsWith('OggS')) return oggSeconds(audio)
  if (prefix.startsWith('fLaC')) return flacSeconds(audio)
  if (prefix.startsWith('\x1aE\xdf\xa3')) return webmSeconds(audio)
  return Infinity
}

/** Rounds the bound up to whole seconds, and to at least one second. */
function withinBound(bytes: number, bound: number): AudioLength {
  const secondsMax = Math.max(1, Math.ceil(bound))
  const secondsTypical = Math.min(Math.ceil(bytes / BYTES_PER_SECOND_TYPICAL), secondsMax)
  return { secondsMax, secondsTypical }
}

/** The offset of the audio after its ID3 tags; undefined if there are more than `TAGS_MAX` tags. */
async function skipTags(file: AudioFile): Promise<number | undefined> {
  const head = Buffer.alloc(ID3_HEADER_BYTES)
  let at = 0
  for (let tags = 0; tags <= TAGS_MAX; tags++) {
    const bytes = await file.readInto(head, at)
    const tagBytes = id3Bytes(head.subarray(0, bytes))
    if (tagBytes === 0) return at
    at += tagBytes
  }
  return undefined
}

/** The size of the ID3 tag at the beginning of these bytes; 0 if there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < ID3_HEADER_BYTES || head.toString('latin1', 0, 3) !== 'ID3') return 0
  if (head[3] === 0xff || head[4] === 0xff) return 0
  const [a, b, c, d] = [head[6], head[7], head[8], head[9]] as [number, number, number, number]
  if ((a | b | c | d) > 0x7f) return 0
  const hasFooter = ((head[5] as number) & 0x10) !== 0
  return (hasFooter ? 20 : 10) + (a << 21) + (b << 14) + (c << 7) + d
}

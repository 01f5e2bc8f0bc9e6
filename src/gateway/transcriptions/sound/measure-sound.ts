/**
 * How long a sound can be. Exact for plain samples; else bounded by what a decoder would decode, and by
 * what the container says of its length where that is more. Unbounded for any other format, and for a
 * file that is not as an encoder writes it: then the longest sound that the model takes is held for.
 */
import { flacSeconds } from './flac-seconds.ts'
import { isMp3 } from './is-mp3.ts'
import { mp4Seconds } from './mp4-seconds.ts'
import { oggSeconds } from './ogg-seconds.ts'
import { pcmBytesPerSecond } from './pcm-bytes-per-second.ts'
import { openWindow, type SoundFile, type SoundWindow } from './sound-window.ts'
import { webmSeconds } from './webm-seconds.ts'

export interface SoundLength {
  /** Never less than it is; infinite where nothing bounds it. */
  readonly secondsMax: number
  /** About as much as it is, where no one says. */
  readonly secondsTypical: number
}

/** Enough for the chunks before the samples of a WAV. */
const HEAD_BYTES = 4_096
/** MPEG audio of the lowest rate in its tables, 8 kbit/s. Every frame names its rate, silence too. */
const MP3_BYTES_PER_SECOND_MIN = 1_000
/** 128 kbit/s. */
const BYTES_PER_SECOND_TYPICAL = 16_000
const ID3_HEADER_BYTES = 10
const TAGS_MAX = 8

export async function measureSound(file: SoundFile): Promise<SoundLength> {
  const start = await skipTags(file)
  if (start === undefined) return withinBound(file.bytes, Infinity)
  const sound = openWindow(file, start)
  const head = await sound.read(0, HEAD_BYTES)
  const rate = pcmBytesPerSecond(head)
  if (rate !== undefined) {
    const seconds = Math.ceil(file.bytes / rate)
    return { secondsMax: seconds, secondsTypical: seconds }
  }
  if (isMp3(head)) return withinBound(file.bytes, file.bytes / MP3_BYTES_PER_SECOND_MIN)
  return withinBound(file.bytes, await containedSeconds(file, sound, start, head))
}

async function containedSeconds(
  file: SoundFile,
  sound: SoundWindow,
  start: number,
  head: Buffer,
): Promise<number> {
  const mark = head.toString('latin1', 0, 8)
  if (mark.startsWith('OggS')) return oggSeconds(sound)
  if (mark.startsWith('fLaC')) return flacSeconds(sound)
  if (mark.startsWith('\x1aE\xdf\xa3')) return webmSeconds(sound)
  return mark.endsWith('ftyp') ? mp4Seconds(file, start) : Infinity
}

/** No decoded sound is shorter than nothing: one second at least. */
function withinBound(bytes: number, bound: number): SoundLength {
  const secondsMax = Math.max(1, Math.ceil(bound))
  const secondsTypical = Math.min(Math.ceil(bytes / BYTES_PER_SECOND_TYPICAL), secondsMax)
  return { secondsMax, secondsTypical }
}

/** Where the sound begins: a tag says nothing of what follows it. Undefined where there is no end of tags. */
async function skipTags(file: SoundFile): Promise<number | undefined> {
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

/** Of the tag at the beginning of these bytes; 0 where there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < ID3_HEADER_BYTES || head.toString('latin1', 0, 3) !== 'ID3') return 0
  const [a, b, c, d] = [head[6], head[7], head[8], head[9]] as [number, number, number, number]
  if ((a | b | c | d) > 0x7f) return 0
  const hasFooter = ((head[5] as number) & 0x10) !== 0
  return (hasFooter ? 20 : 10) + (a << 21) + (b << 14) + (c << 7) + d
}

import type { AudioWindow } from './audio-window.ts'
import { createIsOneAacFrame, FRAME_BYTES_MAX } from './is-one-aac-frame.ts'
import type { Mp4Samples } from './mp4-samples.ts'

/** The reader of a frame looks at some bytes behind it. */
const BEHIND_BYTES = 8

/** Whether each of the samples is one frame. Keep it for all samples of a file: each must begin behind the one before. */
export type HaveOneFrameEach = (found: readonly Mp4Samples[]) => Promise<boolean>

/** Samples that overlap, which no encoder writes, would take more time than the bytes of the file. */
export function createHaveOneFrameEach(file: AudioWindow): HaveOneFrameEach {
  const checks = new Map<number, ReturnType<typeof createIsOneAacFrame>>()
  let end = 0
  return async (found) => {
    for (const { rateIndex, samples } of found) {
      const isOneFrame = checks.get(rateIndex) ?? createIsOneAacFrame(rateIndex)
      checks.set(rateIndex, isOneFrame)
      for (const { position, bytes } of samples) {
        if (position < end || bytes > FRAME_BYTES_MAX || position + bytes > file.bytes) return false
        const length = bytes + BEHIND_BYTES
        const sample = file.peek(position, length) ?? (await file.read(position, length))
        if (sample.length < bytes || !isOneFrame(sample, 0, bytes)) return false
        end = position + bytes
      }
    }
    return true
  }
}

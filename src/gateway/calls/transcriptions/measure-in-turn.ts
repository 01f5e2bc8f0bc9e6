import type { OwnTime } from '../../../platform/admission/own-time.ts'
import type { AudioFile } from './audio/audio-window.ts'
import { measureAudio, type AudioLength } from './audio/measure-audio.ts'

/**
 * Measures a file when the customer's turn has come. A hostile file takes seconds of the processor, in parts between the
 * reads of it: these are the customer's own time. The reads are not, because other calls run meanwhile.
 */
export async function measureInTurn(
  file: AudioFile,
  customerId: string,
  time: OwnTime,
  now: () => number = () => performance.now(),
): Promise<AudioLength> {
  let length: AudioLength | undefined
  await time.takeSlices(customerId, async () => {
    let ms = 0
    let startedAtMs = now()
    const timed: AudioFile = {
      bytes: file.bytes,
      async readInto(buffer, position) {
        ms += now() - startedAtMs
        const bytes = await file.readInto(buffer, position)
        startedAtMs = now()
        return bytes
      },
    }
    length = await measureAudio(timed)
    return ms + now() - startedAtMs
  })
  return length as AudioLength
}

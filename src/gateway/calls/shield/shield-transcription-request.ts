import {
  promptBytesOf,
  type TranscriptionRequest,
} from '../transcriptions/transcription-request.ts'
import { createTextShield } from './text-shield.ts'
import type { ShieldRequest } from './shielded-request.ts'

/** Reads the fields and the name of the file; the speech is not read. */
export const shieldTranscriptionRequest: ShieldRequest<TranscriptionRequest> = (
  request,
  options,
) => {
  const shield = createTextShield(options)
  const fields = request.fields.map(([name, value]) => [name, shield.read(name, value)] as const)
  const name = shield.read('file', request.file.name)
  return shield.outcome({
    ...request,
    fields,
    file: name === request.file.name ? request.file : { ...request.file, name },
    promptBytes: promptBytesOf(fields),
  })
}

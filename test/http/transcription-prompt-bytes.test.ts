// deep: an attack
/** The prompt of a transcription as it is sent, against the bytes that the hold covers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createOwnTime } from '../../src/platform/admission/own-time.ts'
import {
  readTranscription,
  type KeptFile,
  type TranscriptionRequest,
} from '../../src/gateway/calls/transcriptions/transcription-request.ts'
import { createMultipartForm } from '../../src/gateway/providers/openai-compatible/multipart.ts'

const LINES = 100_000

test('the bytes of a transcription prompt that the hold covers are the bytes that are sent', async () => {
  const file = { bytes: 44, readInto: async () => 0, dispose() {} } as unknown as KeptFile
  const fields = [['prompt', '\n'.repeat(LINES)]] as const
  const request = await readTranscription(
    { read: async () => ({ file, fields }) },
    'a customer',
    'whisper-1',
    createOwnTime(1),
  )
  const { promptBytes, fields: sent } = request as TranscriptionRequest
  const form = createMultipartForm(sent, { field: 'file', name: 'a', mediaType: 'audio/wav' })
  const body = form.head.toString()
  const start = body.indexOf('\r\n\r\n') + 4
  const promptSent = body.slice(start, body.indexOf('\r\n--', start))
  assert.ok(promptSent.length <= promptBytes, `${promptBytes} held, ${promptSent.length} sent`)
})

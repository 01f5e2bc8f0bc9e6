import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject, Provider, ReportedUsage, SpeechAnswer } from '../contract.ts'
import { plainTokens } from '../plain-tokens.ts'
import { postFor } from './post.ts'
import {
  BadAnswer,
  isEventStream,
  oneHeader,
  readObject,
  readReportedError,
} from './read-answer.ts'
import { readCount } from './read-usage.ts'
import type { Upstream } from './upstream.ts'

/** A quarter of an hour of uncompressed sound, in base64. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

export function createSpeak(upstream: Upstream): NonNullable<Provider['speak']> {
  const path = upstream.path('/audio/speech')
  return async function speak({ body, wantsUsage, callId, takeBytes }, signal) {
    const events = wantsUsage ? { stream_format: 'sse' } : {}
    const request = { path, callId, body: JSON.stringify({ ...body, ...events }) }
    return postFor(upstream, request, signal, async ({ headers, body: answer }) => {
      const type = oneHeader(headers['content-type'])
      const bytes = await answer.bytes(ANSWER_BYTES_MAX, takeBytes)
      // Some upstreams know no events, and send the sound.
      if (isEventStream(type)) return readEvents(bytes.toString('utf8'))
      if (type?.toLowerCase().startsWith('application/json')) {
        const failure = readReportedError(readObject(bytes.toString('utf8')))
        if (failure) return failure
        throw new BadAnswer('the answer is JSON, and no sound')
      }
      return speechOf(bytes, undefined)
    })
  }
}

function readEvents(
  text: string,
): ReturnType<typeof speechOf> | NonNullable<ReturnType<typeof readReportedError>> {
  const parts: Buffer[] = []
  for (const line of text.split(/\r?\n/)) {
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : ''
    if (data === '' || data === '[DONE]') continue
    const event = readObject(data)
    const failure = readReportedError(event)
    if (failure) return failure
    if (event.type === 'speech.audio.delta' && typeof event.audio === 'string')
      parts.push(Buffer.from(event.audio, 'base64'))
    if (event.type === 'speech.audio.done') return speechOf(Buffer.concat(parts), event)
  }
  throw new BadAnswer('the sound has no end')
}

function speechOf(audio: Buffer, done: JsonObject | undefined): SpeechAnswer {
  if (audio.length === 0) throw new BadAnswer('the answer has no sound')
  return { kind: 'speech', audio, usage: readUsage(done?.usage) }
}

function readUsage(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const promptTokens = readCount(usage.input_tokens ?? usage.prompt_tokens)
  const completionTokens = readCount(usage.output_tokens ?? usage.completion_tokens)
  return promptTokens === undefined || completionTokens === undefined
    ? undefined
    : plainTokens(promptTokens, completionTokens)
}

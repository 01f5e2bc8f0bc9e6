import { subtitleTime } from '../../platform/lib/subtitle-time.ts'
import type { TranscriptionFields } from './read-transcription-fields.ts'
import { listWords, type TimedText, type Transcript } from './write-transcript.ts'

export interface Transcription {
  readonly seconds: number
  readonly transcript: Transcript
  /** Undefined if the model reports none. */
  readonly usage: TranscriptionUsage | undefined
}

/** The `usage` object of the answer. */
export type TranscriptionUsage =
  | { readonly type: 'duration'; readonly seconds: number }
  | {
      readonly type: 'tokens'
      readonly input_tokens: number
      readonly output_tokens: number
      readonly total_tokens: number
      readonly input_token_details: { readonly text_tokens: number; readonly audio_tokens: number }
    }

export interface RenderedTranscription {
  readonly body: string
  readonly contentType: string
}

/** Whisper processes windows of this length, and reports their starts in hundredths of a second. */
const WINDOW_SECONDS = 30

export function renderTranscription(
  fields: TranscriptionFields,
  { seconds, transcript, usage }: Transcription,
): RenderedTranscription {
  const { text, segments } = transcript
  switch (fields.format) {
    case 'json':
      return json({ text, usage })
    case 'verbose_json':
      return json({
        task: 'transcribe',
        language: nameLanguage(fields.language),
        duration: seconds,
        text,
        ...renderTimes(fields, segments),
        usage,
      })
    case 'text':
      return plain(`${text}\n`)
    case 'srt':
      return plain(segments.map((one, index) => `${index + 1}\n${renderCue(one, ',')}`).join(''))
    case 'vtt':
      return plain(`WEBVTT\n\n${segments.map((one) => renderCue(one, '.')).join('')}`)
  }
}

/** If words are requested, segments are included only if they are requested as well. */
function renderTimes(
  { granularities, temperature }: TranscriptionFields,
  segments: readonly TimedText[],
): object {
  const hasWords = granularities.includes('word')
  const words = segments.flatMap(listWords).map(({ text, ...times }) => ({ word: text, ...times }))
  if (hasWords && !granularities.includes('segment')) return { words }
  const detailed = segments.map(({ start, end, text }, id) => ({
    id,
    seek: Math.floor(start / WINDOW_SECONDS) * WINDOW_SECONDS * 100,
    start,
    end,
    // Whisper starts each segment with the space that separates it from the previous one.
    text: ` ${text}`,
    tokens: [],
    temperature,
    avg_logprob: -0.25,
    compression_ratio: 1.25,
    no_speech_prob: 0.01,
  }))
  return hasWords ? { segments: detailed, words } : { segments: detailed }
}

function renderCue({ start, end, text }: TimedText, decimalMark: ',' | '.'): string {
  return `${subtitleTime(start, decimalMark)} --> ${subtitleTime(end, decimalMark)}\n${text}\n\n`
}

/** The name that Whisper uses, such as `portuguese`. */
function nameLanguage(code: string): string {
  return (languages.of(code) ?? code).toLowerCase()
}

const languages = new Intl.DisplayNames('en', { type: 'language' })

function json(body: object): RenderedTranscription {
  return { body: JSON.stringify(body), contentType: 'application/json' }
}

function plain(body: string): RenderedTranscription {
  return { body, contentType: 'text/plain; charset=utf-8' }
}

import { subtitleTime } from '../../platform/lib/subtitle-time.ts'
import type { AnswerEvent } from './render-answer.ts'
import type { TranscriptionFields } from './read-transcription-fields.ts'

/** The transcript of the sandbox, which depends only on the length of the audio. */
interface Transcript {
  readonly text: string
  readonly segments: readonly TimedText[]
}

/** Times are seconds from the beginning. */
interface TimedText {
  readonly start: number
  readonly end: number
  readonly text: string
}

const SECONDS_PER_SENTENCE = 5
const SENTENCES_MAX = 200

const SENTENCES = [
  'Bom dia, aqui é a catraca da estação, e a gravação começou.',
  'O primeiro trem chega às seis, e a plataforma já tem gente esperando.',
  'Uma senhora pergunta onde fica a saída para o mercado.',
  'O café da esquina abre daqui a pouco, com pão de queijo quentinho.',
  'Alguém deixou um guarda-chuva azul perto do banco.',
  'Se a chuva parar, a feira vai até a hora do almoço.',
  'As crianças da escola passam cantando e acenam para o maquinista.',
  'O próximo trem está atrasado em quatro minutos.',
  'Quem perdeu um cartão pode buscá-lo na bilheteria.',
  'E assim a manhã segue, com uma volta da catraca de cada vez.',
] as const

/**
 * Returns a transcript with one sentence per five seconds, and at most 200 sentences, which then last longer. An empty
 * audio has none.
 */
export function writeTranscript(seconds: number): Transcript {
  const count = Math.min(Math.ceil(seconds / SECONDS_PER_SENTENCE), SENTENCES_MAX)
  const secondsEach = Math.max(SECONDS_PER_SENTENCE, seconds / count)
  const segments = Array.from({ length: count }, (_, index) => ({
    start: roundToMs(index * secondsEach),
    end: index === count - 1 ? seconds : roundToMs((index + 1) * secondsEach),
    text: SENTENCES[index % SENTENCES.length] as string,
  }))
  return { text: segments.map(({ text }) => text).join(' '), segments }
}

/** The words of a segment without punctuation; they share its time equally. */
function listWords({ start, end, text }: TimedText): TimedText[] {
  const words = text.match(/[\p{L}\p{N}-]+/gu) ?? []
  const secondsEach = (end - start) / words.length
  return words.map((word, index) => ({
    start: roundToMs(start + index * secondsEach),
    end: index === words.length - 1 ? end : roundToMs(start + (index + 1) * secondsEach),
    text: word,
  }))
}

function roundToMs(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}

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

/** The words as they are heard, then the whole text with the usage. */
export function renderTranscriptEvents({ transcript, usage }: Transcription): AnswerEvent[] {
  const { text } = transcript
  const deltas = text.match(/\S+\s*/g) ?? []
  return [
    ...deltas.map((delta) => event({ type: 'transcript.text.delta', delta }, 1)),
    event({ type: 'transcript.text.done', text, usage }, 0),
  ]
}

function event(body: object, tokens: number): AnswerEvent {
  return { data: JSON.stringify(body), tokens }
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

import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  JsonObject,
  ReportedUsage,
  TranscriptionAnswer,
  TranscriptionSegment,
  TranscriptionWord,
} from '../contract.ts'
import { plainTokens } from '../plain-tokens.ts'
import { BadAnswer } from './read-answer.ts'
import { readCount } from './read-usage.ts'

/** About eleven and a half days, more audio than any upload contains; a larger number is invalid. */
const SECONDS_MAX = 1_000_000

/** Reads an answer in the `json` or the `verbose_json` format. Throws `BadAnswer`. */
export function readTranscription(answer: JsonObject): TranscriptionAnswer {
  const { text, language } = answer
  if (typeof text !== 'string') throw new BadAnswer('the answer has no text')
  const durationSeconds = readSeconds(answer.duration)
  const segments = readList(answer.segments, isSegment)
  const words = readList(answer.words, isWord)
  return {
    kind: 'transcription',
    text,
    ...(typeof language === 'string' ? { language } : {}),
    ...(durationSeconds === undefined ? {} : { durationSeconds }),
    ...(segments === undefined ? {} : { segments }),
    ...(words === undefined ? {} : { words }),
    usage: usageOf(answer),
  }
}

/** The usage that an answer, or the last event of a stream, reports. */
export function usageOf({ usage, duration }: JsonObject): ReportedUsage | undefined {
  return readUsage(usage) ?? usageOfDuration(readSeconds(duration))
}

/**
 * The billed tokens or seconds, by the field names of OpenAI or of Mistral, which reports both. Undefined if both are
 * missing or implausible.
 */
function readUsage(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const audioSeconds = readSeconds(usage.seconds ?? usage.prompt_audio_seconds)
  const promptTokens = readCount(usage.input_tokens ?? usage.prompt_tokens)
  const completionTokens = readCount(usage.output_tokens ?? usage.completion_tokens)
  const hasTokens = promptTokens !== undefined && completionTokens !== undefined
  if (!hasTokens && audioSeconds === undefined) return undefined
  return {
    ...(hasTokens ? plainTokens(promptTokens, completionTokens) : plainTokens(0, 0)),
    ...(hasTokens ? audioInputOf(usage, promptTokens) : {}),
    ...(audioSeconds === undefined ? {} : { audioSeconds }),
  }
}

function audioInputOf(
  { input_token_details: details }: JsonObject,
  promptTokens: number,
): { audioInputTokens?: number } {
  const audioTokens = isObject(details) ? readCount(details.audio_tokens) : undefined
  return audioTokens === undefined ? {} : { audioInputTokens: Math.min(audioTokens, promptTokens) }
}

/** Upstreams that report no usage bill whole seconds. */
function usageOfDuration(seconds: number | undefined): ReportedUsage | undefined {
  return seconds === undefined
    ? undefined
    : { ...plainTokens(0, 0), audioSeconds: Math.ceil(seconds) }
}

/** Some upstreams send the number as a string. */
function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : undefined
}

/** The whole list, or undefined if one entry is malformed: subtitles with missing lines are worse than none. */
function readList<T>(value: unknown, isEntry: (entry: unknown) => entry is T): T[] | undefined {
  return Array.isArray(value) && value.every(isEntry) ? value : undefined
}

function isSegment(value: unknown): value is TranscriptionSegment {
  return isTimed(value) && typeof value.text === 'string'
}

function isWord(value: unknown): value is TranscriptionWord {
  return isTimed(value) && typeof value.word === 'string'
}

function isTimed(value: unknown): value is JsonObject {
  return isObject(value) && typeof value.start === 'number' && typeof value.end === 'number'
}

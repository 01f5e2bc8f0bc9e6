import { isObject } from '../../lib/is-object.ts'
import type {
  JsonObject,
  ReportedUsage,
  TranscriptionAnswer,
  TranscriptionSegment,
  TranscriptionWord,
} from '../contract.ts'
import { BadAnswer } from './read-answer.ts'
import { plainTokens } from '../plain-tokens.ts'
import { readCount } from './read-count.ts'

/** No upload holds this much audio, eleven days: a larger number is garbage. */
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
    usage: readUsage(answer.usage) ?? usageOfDuration(durationSeconds),
  }
}

/**
 * What the upstream bills: tokens or seconds, by the names of OpenAI or of Mistral, which tells both.
 * Undefined where neither is there or to be believed.
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

/** Whole seconds are what is billed by those who tell no usage. */
function usageOfDuration(seconds: number | undefined): ReportedUsage | undefined {
  return seconds === undefined
    ? undefined
    : { ...plainTokens(0, 0), audioSeconds: Math.ceil(seconds) }
}

/** Some upstreams write the number as text. */
function readSeconds(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof seconds === 'number' && seconds >= 0 && seconds <= SECONDS_MAX ? seconds : undefined
}

/** All of a list or nothing: a subtitle that lacks lines is worse than none. */
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

import { BadRequest, readChoice, readNumber, type JsonObject } from './read-field.ts'
import type { FormField } from './read-upload.ts'

export interface TranscriptionFields {
  /** Undefined if the fields received so far have no model. */
  readonly modelName: string | undefined
  /** An ISO 639-1 code. */
  readonly language: string
  readonly prompt: string
  readonly format: TranscriptionFormat
  readonly temperature: number
  readonly granularities: readonly ('word' | 'segment')[]
  readonly isStream: boolean
}

const FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
export type TranscriptionFormat = (typeof FORMATS)[number]

const GRANULARITIES = ['word', 'segment'] as const
const GRANULARITIES_FIELD = 'timestamp_granularities[]'

/**
 * Throws `BadRequest` with OpenAI's wording for a fault of the fields received so far that no later field can correct.
 */
export function readTranscriptionFields(given: readonly FormField[]): TranscriptionFields {
  // Of a repeated field the last one counts, and an empty field counts as missing.
  const last = Object.entries(Object.fromEntries(given))
  const form: JsonObject = Object.fromEntries(last.filter(([, value]) => value !== ''))
  const modelName = form.model as string | undefined
  const format = readChoice(form, 'response_format', FORMATS)
  if (modelName !== undefined && format !== undefined) checkFormat(modelName, format)
  const granularities = given
    .filter(([name]) => name === GRANULARITIES_FIELD)
    .flatMap(([name, value]) => readChoice({ [name]: value }, name, GRANULARITIES) ?? [])
  return {
    modelName,
    language: readLanguage(form.language as string | undefined),
    prompt: (form.prompt as string | undefined) ?? '',
    format: format ?? 'json',
    temperature: readTemperature(form.temperature as string | undefined),
    granularities,
    isStream: form.stream === 'true',
  }
}

/** Checks that need the whole form, because a missing format means JSON. */
export function checkGranularities({ format, granularities }: TranscriptionFields): void {
  if (granularities.length === 0 || format === 'verbose_json') return
  throw new BadRequest(
    `'timestamp_granularities' is only allowed with response_format 'verbose_json', ` +
      `but got '${format}'.`,
    'timestamp_granularities',
    'invalid_value',
  )
}

/** Whether a model behaves like gpt-4o-transcribe, which reports usage in tokens and returns no timestamps. */
export function reportsTokens(modelName: string): boolean {
  return modelName.endsWith('-tokens')
}

function checkFormat(modelName: string, format: TranscriptionFormat): void {
  if (!reportsTokens(modelName) || format === 'json' || format === 'text') return
  throw new BadRequest(
    `response_format '${format}' is not compatible with model '${modelName}'. ` +
      `Use 'json' or 'text' instead.`,
    'response_format',
    'unsupported_value',
  )
}

function readLanguage(language: string | undefined): string {
  if (language === undefined) return 'pt'
  if (/^[a-z]{2}$/i.test(language)) return language.toLowerCase()
  throw new BadRequest(
    `Invalid language '${language}'. Language parameter must be specified in ISO-639-1 format.`,
    'language',
    'invalid_language_format',
  )
}

function readTemperature(text: string | undefined): number {
  // A form has only strings; a value that is not a number is reported unchanged.
  const temperature = text === undefined || Number.isNaN(Number(text)) ? text : Number(text)
  return readNumber({ temperature }, 'temperature', { minimum: 0, maximum: 1 }) ?? 0
}

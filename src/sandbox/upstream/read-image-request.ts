import {
  BadRequest,
  emptyString,
  invalidType,
  missing,
  readChoice,
  readFlag,
  readModelName,
  readNumber,
  parseJsonBody,
} from './read-field.ts'

export interface ImageRequest {
  readonly modelName: string
  readonly prompt: string
  readonly count: number
  readonly size: ImageSize
  readonly quality: ImageQuality
  readonly format: 'b64_json' | 'url'
}

export interface ImageSize {
  readonly width: number
  readonly height: number
}

export type ImageQuality = 'low' | 'medium' | 'high'

const PROMPT_CHARACTERS_MAX = 32_000
const SIDE_PIXELS_MIN = 16
const SIDE_PIXELS_MAX = 4096

/** Reads an image request. Throws `BadRequest` with OpenAI's wording. */
export function readImageRequest(text: string): ImageRequest {
  const body = parseJsonBody(text)
  const modelName = readModelName(body.model)
  if (readFlag(body, 'stream') === true) {
    throw new BadRequest("'stream' is not supported by this model.", 'stream', 'unsupported_value')
  }
  readChoice(body, 'output_format', ['png'])
  const quality = readChoice(body, 'quality', ['low', 'medium', 'high', 'auto']) ?? 'auto'
  return {
    modelName,
    prompt: readPrompt(body.prompt),
    count: readNumber(body, 'n', { minimum: 1, maximum: 10, isInteger: true }) ?? 1,
    size: readSize(body.size),
    quality: quality === 'auto' ? 'high' : quality,
    format: readChoice(body, 'response_format', ['b64_json', 'url']) ?? 'b64_json',
  }
}

/** Parses `<width>x<height>`; returns undefined if the sandbox cannot draw a side of this length. */
export function parseImageSize(text: string): ImageSize | undefined {
  const [, width = NaN, height = NaN] = (/^(\d{2,4})x(\d{2,4})$/.exec(text) ?? []).map(Number)
  const isDrawable = (side: number) => side >= SIDE_PIXELS_MIN && side <= SIDE_PIXELS_MAX
  return isDrawable(width) && isDrawable(height) ? { width, height } : undefined
}

function readPrompt(prompt: unknown): string {
  if (prompt === undefined || prompt === null) throw missing('prompt')
  if (typeof prompt !== 'string') throw invalidType('prompt', 'a string', prompt)
  if (prompt === '') throw emptyString('prompt')
  if (prompt.length <= PROMPT_CHARACTERS_MAX) return prompt
  throw new BadRequest(
    `Invalid 'prompt': string too long. Expected a string with maximum length ` +
      `${PROMPT_CHARACTERS_MAX}, but got a string with length ${prompt.length} instead.`,
    'prompt',
    'string_above_max_length',
  )
}

function readSize(size: unknown): ImageSize {
  if (size === undefined || size === null || size === 'auto') return { width: 1024, height: 1024 }
  if (typeof size !== 'string') throw invalidType('size', 'a string', size)
  const parsed = parseImageSize(size)
  if (parsed !== undefined) return parsed
  throw new BadRequest(
    `Invalid value: '${size}'. Supported values are: 'auto' and '<width>x<height>', ` +
      `each from ${SIDE_PIXELS_MIN} to ${SIDE_PIXELS_MAX}.`,
    'size',
    'invalid_value',
  )
}

/**
 * The most tokens that the prompt of a received body can have: at most one token per byte of text; for an
 * image, the provider's number for the largest one; for a document, its pages; for audio and video, their
 * seconds. Texts of models with a public tokenizer are counted with it.
 */
import { countTokens as countCl100k } from 'gpt-tokenizer/encoding/cl100k_base'
import { countTokens as countO200k } from 'gpt-tokenizer/encoding/o200k_base'
import { isObject } from '../../src/platform/lib/is-object.ts'
import type { ModelTruth } from './model-truth.ts'
import { audioSecondsOf } from './sound.ts'

export interface Media {
  readonly mediaType: string
  /** Undefined: the document is at an address, and counts as the largest that the provider accepts. */
  readonly bytes: Buffer | undefined
  /** The document is plain text. */
  readonly text?: string
}

/** The medium that an object of a request declares in the provider's format; undefined when it is text. */
export type MediaOf = (value: Record<string, unknown>) => Media | undefined

export interface PromptSize {
  tokens: number
  /** The part of the tokens that is audio. */
  audioTokens: number
}

/** The tokens around each message, and around all of them: no provider publishes more. */
export const TOKENS_PER_MESSAGE = 4
export const TOKENS_PER_PROMPT = 40
/** The largest number of Anthropic's table of tokens that tools add. */
export const TOOL_PREAMBLE = 530

/** Fields that name the kind of a part, and are not text that the model reads. */
const STRUCTURE = new Set([
  'role',
  'type',
  'cache_control',
  'cachePoint',
  'media_type',
  'mimeType',
  'format',
  'detail',
  'strict',
])
/** Everything below these fields is JSON that the model reads, keys included. */
const FREE = new Set([
  'input_schema',
  'inputSchema',
  'parameters',
  'parametersJsonSchema',
  'args',
  'response',
  'input',
  'schema',
  'json_schema',
  'responseSchema',
  'responseJsonSchema',
  'function_call',
])

export function measurer(model: ModelTruth, mediaOf: MediaOf): (value: unknown) => PromptSize {
  return (value) => {
    const size: PromptSize = { tokens: 0, audioTokens: 0 }
    add(value, false)
    return size

    function add(node: unknown, isFree: boolean): void {
      if (typeof node === 'string') {
        size.tokens += tokensOf(model, node) + (isFree ? 2 : 0)
        return
      }
      if (Array.isArray(node)) {
        for (const each of node) add(each, isFree)
        return
      }
      if (!isObject(node)) {
        if (node !== undefined && node !== null) size.tokens += JSON.stringify(node).length
        return
      }
      const media = isFree ? undefined : mediaOf(node)
      if (media) addMedia(media)
      for (const [key, child] of Object.entries(node)) {
        if (isFree) size.tokens += tokensOf(model, key)
        if (!isFree && (STRUCTURE.has(key) || (media && isMediaField(key)))) continue
        add(child, isFree || FREE.has(key))
      }
    }

    function addMedia(media: Media): void {
      const { tokens, isAudio } = mediaTokens(model, media)
      size.tokens += tokens
      if (isAudio) size.audioTokens += tokens
    }
  }
}

const MEDIA_FIELDS = new Set(
  'image_url file input_audio source inlineData fileData image document video url data'.split(' '),
)
const isMediaField = (key: string): boolean => MEDIA_FIELDS.has(key)

export function tokensOf({ tokenizer }: ModelTruth, text: string): number {
  const bytes = Buffer.byteLength(text)
  // A long run without a break takes the tokenizer seconds, and never has more tokens than bytes.
  if (tokenizer === undefined || bytes > 20_000) return bytes
  const count = tokenizer === 'o200k_base' ? countO200k : countCl100k
  return count(text, { disallowedSpecial: new Set() })
}

const PDF_PAGE_TOKENS: Record<string, number> = { anthropic: 3_000, 'amazon-bedrock': 3_000 }
const PDF_PAGES_MAX: Record<string, number> = { anthropic: 100, 'amazon-bedrock': 100 }
const VIDEO_TOKENS_PER_SECOND = 300
const VIDEO_SECONDS_MAX = 3_600
const AUDIO_TOKENS_PER_SECOND = 32
const AUDIO_SECONDS_MAX = 34_200

function mediaTokens(model: ModelTruth, media: Media): { tokens: number; isAudio?: boolean } {
  const { mediaType, bytes, text } = media
  const kind = mediaType.split('/')[0]
  if (text !== undefined) return { tokens: Buffer.byteLength(text) }
  if (kind === 'image') return { tokens: model.imageTokens }
  if (kind === 'audio') {
    const seconds = Math.min(audioSecondsOf(bytes, AUDIO_SECONDS_MAX), AUDIO_SECONDS_MAX)
    return { tokens: Math.ceil(seconds * AUDIO_TOKENS_PER_SECOND), isAudio: true }
  }
  if (kind === 'video') return { tokens: VIDEO_SECONDS_MAX * VIDEO_TOKENS_PER_SECOND }
  if (mediaType === 'application/pdf') {
    const pagesMax = PDF_PAGES_MAX[model.format] ?? 1_000
    const pages = bytes ? Math.min(pagesOf(bytes), pagesMax) : pagesMax
    return { tokens: pages * (PDF_PAGE_TOKENS[model.format] ?? 560) }
  }
  return { tokens: bytes?.length ?? model.context }
}

function pagesOf(pdf: Buffer): number {
  return Math.max(1, pdf.toString('latin1').split('/Type/Page').length - 1)
}

/** The medium of a data URL or of an address. */
export function mediaOfUrl(url: unknown, fallback: string): Media | undefined {
  if (typeof url !== 'string') return undefined
  const match = /^data:([^;,]*)((?:;[^,;]*)*),(.*)$/is.exec(url)
  if (!match) {
    const isVideo = /youtu|\.mp4$/i.test(url)
    const isPdf = /\.pdf$/i.test(url)
    return {
      mediaType: isVideo ? 'video/mp4' : isPdf ? 'application/pdf' : fallback,
      bytes: undefined,
    }
  }
  const [, mediaType = '', parameters = '', data = ''] = match
  const bytes = /;base64/i.test(parameters) ? Buffer.from(data, 'base64') : Buffer.from(data)
  return { mediaType: mediaType.toLowerCase() || fallback, bytes }
}

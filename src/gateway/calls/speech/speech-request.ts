import type { JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { findChoiceFault, findNumberFault, isAbsent, keepFields } from '../field-faults.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'

export const SPEECH_FORMATS = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type SpeechFormat = (typeof SPEECH_FORMATS)[number]

export interface SpeechRequest extends CallRequest {
  readonly body: JsonObject
  readonly input: string
  readonly format: SpeechFormat
  /** 1 is the usual speed. */
  readonly speed: number
  /** The client reads events, with the sound in base64. */
  readonly wantsEvents: boolean
}

export const CHARACTERS_MAX = 4_096
const SPEED_MIN = 0.25

const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'provider',
  'input',
  'voice',
  'instructions',
  'response_format',
  'speed',
])

export function readSpeechRequest(raw: Buffer): SpeechRequest | Refusal {
  const body = readJsonBody(raw)
  if (isRefusal(body)) return body
  const fault = findFault(body)
  if (fault !== undefined) return refusals.invalidRequest(fault)
  const wantsEvents = body.stream_format === 'sse'
  keepFields(FIELDS, body)
  return {
    body,
    ...takeRouting(body),
    isStream: false,
    input: body.input as string,
    format: (body.response_format as SpeechFormat | null | undefined) ?? 'mp3',
    speed: (body.speed as number | null | undefined) ?? 1,
    wantsEvents,
  }
}

/** Counts the characters of Unicode, as makers do. */
export function charactersOf(text: string): number {
  let count = 0
  for (const _ of text) count += 1
  return count
}

function findFault(body: JsonObject): string | undefined {
  const { input, voice, instructions } = body
  return (
    findRoutingFault(body) ??
    (typeof input === 'string' && input !== ''
      ? undefined
      : 'O campo "input" é obrigatório e deve ser um texto.') ??
    (charactersOf(input as string) <= CHARACTERS_MAX
      ? undefined
      : `O campo "input" aceita até ${CHARACTERS_MAX} caracteres.`) ??
    (typeof voice === 'string' && voice !== ''
      ? undefined
      : 'O campo "voice" é obrigatório e deve ser o nome de uma voz.') ??
    (isAbsent(instructions) || typeof instructions === 'string'
      ? undefined
      : 'O campo "instructions" deve ser um texto.') ??
    findChoiceFault(body, 'response_format', SPEECH_FORMATS) ??
    findChoiceFault(body, 'stream_format', ['audio', 'sse']) ??
    findNumberFault(body, 'speed', SPEED_MIN, 4, false)
  )
}

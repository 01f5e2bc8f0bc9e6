/** The lines of a batch as its client writes and reads them. */
import { idTailOf, uuidIn } from '../../platform/lib/ids.ts'
import { refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { parseExactly } from '../../platform/lib/exact-json.ts'
import { BODY_BOUNDS, findJsonExcess } from '../../platform/lib/bound-json.ts'
import { errorFormatOf } from '../rest/error-formats.ts'
import type { ModelCalls } from '../model-calls/model-call-route.ts'

export type IdPrefix = 'file-' | 'batch_' | 'msgbatch_'

export const publicId = (prefix: IdPrefix, id: string): string => prefix + idTailOf(id)

/** Returns the id in an id of this kind; undefined for a text that none is. */
export function idIn(prefix: IdPrefix, text: string): string | undefined {
  return uuidIn(new RegExp(`^${prefix}([0-9a-f]{32})$`), text)
}

export const MESSAGES = '/v1/messages'

/** The calls that a line of a batch may make. */
export const LINE_CALLS = {
  '/v1/chat/completions': 'completeChat',
  '/v1/completions': 'completeText',
  '/v1/responses': 'createResponse',
  '/v1/embeddings': 'embed',
  '/v1/moderations': 'moderate',
  [MESSAGES]: 'createMessage',
} as const satisfies Readonly<Record<string, keyof ModelCalls>>

export const ENDPOINTS = Object.keys(LINE_CALLS).filter((endpoint) => endpoint !== MESSAGES)

/** A line as it is stored until it is called. */
export interface LineInput {
  readonly custom_id: string
  readonly body: object
}

export const CUSTOM_ID_MAX = 256

/** Reads a line of a file; a text says what is wrong with it. */
export function readFileLine(line: Buffer, endpoint: string): LineInput | string {
  if (findJsonExcess(line, BODY_BOUNDS)) return 'tem valores demais, ou em níveis demais'
  let value: unknown
  try {
    value = parseExactly(new TextDecoder('utf-8', { fatal: true }).decode(line))
  } catch {
    return 'não é JSON em UTF-8'
  }
  if (!isObject(value)) return 'não é um objeto'
  const { custom_id: customId, method, url, body } = value
  if (typeof customId !== 'string' || customId === '' || customId.length > CUSTOM_ID_MAX)
    return `custom_id: deve ser um texto de 1 a ${CUSTOM_ID_MAX} caracteres`
  if (method !== 'POST') return 'method: deve ser POST'
  if (url !== endpoint) return 'url: deve ser o endpoint do lote'
  if (!isObject(body)) return 'body: deve ser um objeto'
  return { custom_id: customId, body }
}

interface Line {
  readonly id: string
  readonly endpoint: string
  readonly customId: string
}

/** `body`: the JSON of the answer, whose amount keeps its digits. */
export function succeededLine({ id, endpoint, customId }: Line, body: string): Buffer {
  return endpoint === MESSAGES
    ? jsonLine({ custom_id: customId }, `"result":{"type":"succeeded","message":${body}}`)
    : jsonLine(
        { id: requestName(id), custom_id: customId },
        `${responseOf(id, 200, body)},"error":null`,
      )
}

/** The result has the error that the call alone would have been answered. */
export function erroredLine({ id, endpoint, customId }: Line, refused: Refusal): Buffer {
  const body = errorFormatOf(endpoint).bodyOf(refused, id)
  return endpoint === MESSAGES
    ? jsonLine({ custom_id: customId }, `"result":{"type":"errored","error":${body}}`)
    : jsonLine(
        { id: requestName(id), custom_id: customId },
        `${responseOf(id, refused.status, body)},"error":null`,
      )
}

const OVER_TEXTS = {
  canceled: ['batch_cancelled', 'O lote foi cancelado antes desta linha. Nada foi cobrado.'],
  expired: ['batch_expired', 'O prazo do lote terminou antes desta linha. Nada foi cobrado.'],
} as const

/** A line that was not called, because its batch was canceled or its time was over. */
export function overLine(
  { id, endpoint, customId }: Line,
  outcome: keyof typeof OVER_TEXTS,
): Buffer {
  if (endpoint === MESSAGES)
    return jsonLine({ custom_id: customId }, `"result":{"type":"${outcome}"}`)
  const [code, message] = OVER_TEXTS[outcome]
  const error = JSON.stringify({ code, message })
  return jsonLine({ id: requestName(id), custom_id: customId }, `"response":null,"error":${error}`)
}

/** Results of a batch that have reached their limit are told as any other error. */
export const resultsFull = (bytesMax: number): Refusal => ({
  ...refusals.payloadTooLarge(bytesMax),
  message: `Os resultados deste lote chegaram a ${bytesMax / 1024 / 1024} MB, e esta linha não foi chamada. Nada foi cobrado. Envie-a em outro lote.`,
})

const requestName = (id: string): string => `batch_req_${idTailOf(id)}`

function responseOf(id: string, status: number, body: string): string {
  return `"response":{"status_code":${status},"request_id":"${id}","body":${body}}`
}

function jsonLine(fields: object, rest: string): Buffer {
  return Buffer.from(`${JSON.stringify(fields).slice(0, -1)},${rest}}\n`)
}

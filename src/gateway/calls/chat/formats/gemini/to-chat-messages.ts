/** Translates the contents of a Gemini request to the messages of chat completions. */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { fileKindOf } from '../../../../media-of-part.ts'
import { ADDRESS_RULE } from '../../read-messages.ts'
import { InvalidField } from '../fields.ts'
import type { KeptReasoning } from '../responses/reasoning-seal.ts'
import { messageAt, messagesAt } from './proto-json.ts'

/** Opens a signature of ours; undefined for any other, and for one of another customer or model. */
export type OpenSignature = (sealed: string) => KeptReasoning | undefined

/** Translates `contents` to chat messages. Throws `InvalidField`. */
export function toChatMessages(contents: unknown, openSignature: OpenSignature): JsonObject[] {
  const turns = messagesAt(contents, 'contents')
  if (turns.length === 0)
    throw new InvalidField(
      'O campo "contents" é obrigatório e deve ser uma lista com pelo menos um conteúdo.',
    )
  const calls = createCallNames()
  return turns.flatMap(({ role, parts }, index) => {
    const path = `contents[${index}].parts`
    const list = messagesAt(parts, path)
    if (role === 'model') return [toAssistantMessage(list, path, calls, openSignature)]
    if (role === undefined || role === 'user' || role === 'function' || role === 'tool')
      return toUserMessages(list, path, calls)
    throw new InvalidField(`contents[${index}].role deve ser user ou model.`)
  })
}

/** The texts of a content, for instructions and for vectors. Parts of other types are a fault. */
export function textsOf(content: unknown, path: string): string[] {
  const { parts } = messageAt(content, path)
  return messagesAt(parts, `${path}.parts`).map(({ text }, index) => {
    if (typeof text !== 'string')
      throw new InvalidField(`${path}.parts[${index}] deve ser um texto.`)
    return text
  })
}

/**
 * The ids of a conversation's calls. Here they are optional; where they are missing, a result is that of the oldest call
 * of its function that has none.
 */
interface CallNames {
  /** The id of a call. */
  add(name: string, id: unknown): string
  /** The id of the call that a result belongs to; undefined if there is none. */
  take(name: unknown, id: unknown): string | undefined
}

function createCallNames(): CallNames {
  /** Those without a result, by the name of their function. */
  const open = new Map<unknown, Set<string>>()
  let count = 0
  return {
    add(name, given) {
      // The same in each request of a conversation, so that an upstream's cache knows its beginning.
      const id = typeof given === 'string' && given !== '' ? given : `call_${count}`
      count += 1
      const ofName = open.get(name) ?? new Set()
      open.set(name, ofName.add(id))
      return id
    },
    take(name, given) {
      const ofName = open.get(name)
      const id = typeof given === 'string' && given !== '' ? given : ofName?.values().next().value
      if (id !== undefined) ofName?.delete(id)
      return id
    },
  }
}

/**
 * The results of functions are messages of their own, before the rest. Media of a result follows in the user's message,
 * because a tool's message has none in chat completions.
 */
function toUserMessages(
  parts: readonly JsonObject[],
  path: string,
  calls: CallNames,
): JsonObject[] {
  const results: JsonObject[] = []
  const media: JsonObject[] = []
  const rest: JsonObject[] = []
  for (const [index, part] of parts.entries()) {
    const at = `${path}[${index}]`
    if (part.functionResponse === undefined) {
      rest.push(toPart(part, at))
      continue
    }
    const { id, name, response, parts: inner } = messageAt(part.functionResponse, at)
    const callId = calls.take(name, id)
    if (callId === undefined)
      throw new InvalidField(`${at}.functionResponse não responde a nenhuma functionCall anterior.`)
    results.push({ role: 'tool', tool_call_id: callId, content: resultOf(response) })
    const innerPath = `${at}.functionResponse.parts`
    media.push(
      ...messagesAt(inner, innerPath).map((each, place) => toPart(each, `${innerPath}[${place}]`)),
    )
  }
  const content = [...media, ...rest]
  return content.length > 0 ? [...results, { role: 'user', content }] : results
}

/** In `output` there is what the function returned; any other response is all of it. */
function resultOf(response: unknown): string {
  const { output, ...others } = isObject(response) ? response : {}
  return typeof output === 'string' && Object.keys(others).length === 0
    ? output
    : JSON.stringify(response ?? {})
}

function toPart({ text, inlineData, fileData }: JsonObject, path: string): JsonObject {
  if (typeof text === 'string') return { type: 'text', text }
  if (inlineData !== undefined) return toMediaPart(messageAt(inlineData, path), path)
  if (fileData !== undefined) return toAddressPart(messageAt(fileData, path), path)
  throw new InvalidField(
    `${path}: partes deste tipo não são aceitas aqui; use text, inlineData, fileData ou functionResponse.`,
  )
}

function toMediaPart({ mimeType, data, displayName }: JsonObject, path: string): JsonObject {
  if (typeof mimeType !== 'string' || typeof data !== 'string')
    throw new InvalidField(`${path}.inlineData deve ter "mimeType" e "data" em base64.`)
  // Google's library for Python writes base64 for addresses.
  const base64 = data.replaceAll('-', '+').replaceAll('_', '/')
  const url = `data:${mimeType};base64,${base64}`
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url } }
  const filename = typeof displayName === 'string' ? displayName : 'document.pdf'
  return { type: 'file', file: { filename, file_data: url } }
}

function toAddressPart({ mimeType, fileUri, displayName }: JsonObject, path: string): JsonObject {
  // The page of a video comes without a type: its text is not what its client asks about.
  if (typeof mimeType !== 'string' || typeof fileUri !== 'string' || isPlayed(mimeType))
    throw new InvalidField(
      `${path}.fileData aceita o endereço de uma imagem ou de um documento, com "mimeType" e "fileUri". Envie outros arquivos em inlineData.`,
    )
  if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url: fileUri } }
  const file = { file_data: fileUri }
  if (fileKindOf(file) !== 'address')
    throw new InvalidField(`${path}.fileData.fileUri ${ADDRESS_RULE}`)
  return {
    type: 'file',
    file: typeof displayName === 'string' ? { filename: displayName, ...file } : file,
  }
}

function isPlayed(mimeType: string): boolean {
  return /^(?:audio|video)\//i.test(mimeType)
}

/**
 * An answer of the model. What its upstream requires back is in the signatures; thoughts without one of ours are left out,
 * because no upstream accepts them back.
 */
function toAssistantMessage(
  parts: readonly JsonObject[],
  path: string,
  calls: CallNames,
  openSignature: OpenSignature,
): JsonObject {
  const texts: JsonObject[] = []
  const made: JsonObject[] = []
  let fields: JsonObject = {}
  const signatures = new Map<unknown, unknown>()
  for (const [index, part] of parts.entries()) {
    const { text, thought, functionCall, thoughtSignature: signature } = part
    const kept = typeof signature === 'string' ? openSignature(toSealed(signature)) : undefined
    fields = { ...fields, ...kept?.fields }
    for (const [id, each] of Object.entries(kept?.calls ?? {})) signatures.set(id, each)
    if (isObject(functionCall)) made.push(toToolCall(functionCall, `${path}[${index}]`, calls))
    else if (part.inlineData !== undefined || part.fileData !== undefined)
      throw new InvalidField(
        `${path}[${index}]: as respostas do modelo aceitam text e functionCall.`,
      )
    else if (typeof text === 'string' && text !== '' && thought !== true)
      texts.push({ type: 'text', text })
  }
  const signed = made.map((call) => {
    const signature = signatures.get(call.id)
    // Once: a request may repeat an id thousands of times, which would multiply its size.
    signatures.delete(call.id)
    return signature === undefined ? call : { ...call, extra_content: signature }
  })
  return {
    role: 'assistant',
    // Null is for messages of calls alone.
    content: texts.length > 0 ? texts : signed.length > 0 ? null : '',
    ...(signed.length > 0 ? { tool_calls: signed } : {}),
    ...fields,
  }
}

function toToolCall(call: JsonObject, path: string, calls: CallNames): JsonObject {
  const { id, name, args } = messageAt(call, path)
  if (typeof name !== 'string' || name === '')
    throw new InvalidField(`${path}.functionCall deve ter "name".`)
  return {
    id: calls.add(name, id),
    type: 'function',
    function: { name, arguments: JSON.stringify(args ?? {}) },
  }
}

/** Signatures are bytes in this format, which libraries decode and encode again. */
function toSealed(signature: string): string {
  return Buffer.from(signature, 'base64').toString('base64url')
}

/** Translates the messages of a Messages request to those of chat-completions. */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { fileKindOf } from '../../../../media-of-part.ts'
import { ADDRESS_RULE } from '../../read-messages.ts'
import { InvalidField } from '../fields.ts'
import type { OpenThinking } from './sealed-thinking.ts'

/** Translates the messages of a Messages body to chat messages. Throws `InvalidField`. */
export function toChatMessages(messages: unknown, openThinking: OpenThinking): JsonObject[] {
  if (!Array.isArray(messages) || messages.length === 0)
    throw new InvalidField(
      'O campo "messages" é obrigatório e deve ser uma lista com pelo menos uma mensagem.',
    )
  return messages.flatMap((message: unknown, index) =>
    toMessages(message, `messages[${index}]`, openThinking),
  )
}

/** A text, or the text blocks of a list as parts. Blocks of other types are a fault. */
export function toTextParts(content: unknown, path: string): string | JsonObject[] {
  if (typeof content === 'string') return content
  return listBlocks(content, path).map((block, index) => {
    if (block.type !== 'text') throw new InvalidField(`${path}[${index}] deve ser um texto.`)
    return toTextPart(block, `${path}[${index}]`)
  })
}

function toMessages(message: unknown, path: string, openThinking: OpenThinking): JsonObject[] {
  if (!isObject(message)) throw new InvalidField(`${path} deve ser um objeto.`)
  const { role, content } = message
  switch (role) {
    case 'system':
      return toInstructions(content, `${path}.content`)
    case 'assistant':
      return [toAssistantMessage(content, `${path}.content`, openThinking)]
    case 'user':
      return toUserMessages(content, `${path}.content`)
    default:
      throw new InvalidField(`${path}.role deve ser user, assistant ou system.`)
  }
}

/** The texts; other blocks only add and remove tools, which are all there. */
function toInstructions(content: unknown, path: string): JsonObject[] {
  const texts = typeof content === 'string' ? content : listBlocks(content, path).filter(isText)
  return texts.length === 0 ? [] : [{ role: 'system', content: toTextParts(texts, path) }]
}

function isText({ type }: JsonObject): boolean {
  return type === 'text'
}

/**
 * The results of tools are messages of their own, before the rest. Images of a result follow in the user's message,
 * because a tool's message has none in chat-completions.
 */
function toUserMessages(content: unknown, path: string): JsonObject[] {
  if (typeof content === 'string') return [{ role: 'user', content }]
  const results: JsonObject[] = []
  const images: JsonObject[] = []
  const parts: JsonObject[] = []
  for (const [index, block] of listBlocks(content, path).entries()) {
    const at = `${path}[${index}]`
    if (block.type === 'tool_result') {
      const result = toToolResult(block, at)
      results.push(result.message)
      images.push(...result.images)
    } else parts.push(...toUserParts(block, at))
  }
  const all = [...images, ...parts]
  return all.length > 0 ? [...results, { role: 'user', content: all }] : results
}

function toToolResult(
  { tool_use_id: id, content, cache_control: control }: JsonObject,
  path: string,
): { message: JsonObject; images: JsonObject[] } {
  if (typeof id !== 'string') throw new InvalidField(`${path} deve ter "tool_use_id".`)
  const parts =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : content === undefined || content === null
        ? []
        : listBlocks(content, `${path}.content`).flatMap((block, index) =>
            toUserParts(block, `${path}.content[${index}]`),
          )
  const texts = parts.filter(({ type }) => type === 'text')
  const last = texts.at(-1)
  if (control !== undefined && last) Object.assign(last, { cache_control: control })
  return {
    message: { role: 'tool', tool_call_id: id, content: texts.length > 0 ? texts : '' },
    images: parts.filter(({ type }) => type !== 'text'),
  }
}

/** The parts of one block; none for blocks that only describe the work of a provider's own tools. */
function toUserParts(block: JsonObject, path: string): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [toTextPart(block, path)]
    case 'image':
      return [{ type: 'image_url', image_url: { url: urlOf(block.source, path) }, ...kept(block) }]
    case 'document':
      return toDocumentParts(block, path)
    case 'tool_reference':
      if (typeof block.tool_name !== 'string') return []
      return [{ type: 'text', text: `The tool ${block.tool_name} is available.` }]
    case 'search_result':
      return listBlocks(block.content, `${path}.content`).map((text) => toTextPart(text, path))
    default:
      return []
  }
}

function toTextPart(block: JsonObject, path: string): JsonObject {
  if (typeof block.text !== 'string') throw new InvalidField(`${path}.text deve ser um texto.`)
  return { type: 'text', text: block.text, ...kept(block) }
}

function isAddressSource(source: unknown): source is { url: string } {
  return isObject(source) && source.type === 'url' && typeof source.url === 'string'
}

function urlOf(source: unknown, path: string): string {
  if (isAddressSource(source)) return source.url
  if (
    isObject(source) &&
    source.type === 'base64' &&
    typeof source.media_type === 'string' &&
    typeof source.data === 'string'
  )
    return `data:${source.media_type};base64,${source.data}`
  throw new InvalidField(
    `${path}.source deve ter o conteúdo em base64, com "media_type" e "data", ou o endereço dele, com "type": "url" e "url"; "file_id" não está disponível.`,
  )
}

function toDocumentParts(block: JsonObject, path: string): JsonObject[] {
  const { source, title } = block
  if (isObject(source) && source.type === 'text' && typeof source.data === 'string')
    return [{ type: 'text', text: source.data, ...kept(block) }]
  if (isObject(source) && source.type === 'content')
    return typeof source.content === 'string'
      ? [{ type: 'text', text: source.content, ...kept(block) }]
      : listBlocks(source.content, `${path}.source.content`).flatMap((inner, index) =>
          toUserParts(inner, `${path}.source.content[${index}]`),
        )
  const url = urlOf(source, path)
  const file = typeof title === 'string' ? { filename: title, file_data: url } : { file_data: url }
  const kind = fileKindOf(file)
  if (isAddressSource(source) && kind !== 'address')
    throw new InvalidField(`${path}.source.url ${ADDRESS_RULE}`)
  // Only a download tells what is at an address.
  return [
    {
      type: 'file',
      file: kind === 'address' ? file : { filename: 'document.pdf', ...file },
      ...kept(block),
    },
  ]
}

function toAssistantMessage(
  content: unknown,
  path: string,
  openThinking: OpenThinking,
): JsonObject {
  if (typeof content === 'string') return { role: 'assistant', content }
  const texts: JsonObject[] = []
  const calls: JsonObject[] = []
  const reasoning: JsonObject[] = []
  /** Reasoning without a signature, by the field in which its upstream sent it. */
  const unsigned: Record<string, string> = {}
  let extra: JsonObject = {}
  const signatures = new Map<unknown, unknown>()
  for (const [index, block] of listBlocks(content, path).entries()) {
    switch (block.type) {
      case 'text':
        texts.push(toTextPart(block, `${path}[${index}]`))
        break
      case 'tool_use':
        calls.push(toToolCall(block, `${path}[${index}]`))
        break
      case 'thinking': {
        const { thinking, signature } = block
        const kept = openThinking(signature)
        for (const name of Object.keys(kept?.fields ?? {}))
          unsigned[name] = `${unsigned[name] ?? ''}${typeof thinking === 'string' ? thinking : ''}`
        // Without a signature no provider accepts it back.
        if (!kept && typeof signature === 'string' && signature !== '')
          reasoning.push({ type: 'reasoning.text', text: thinking, signature })
        break
      }
      case 'redacted_thinking': {
        const kept = openThinking(block.data)
        if (!kept) reasoning.push({ type: 'reasoning.encrypted', data: block.data })
        extra = { ...extra, ...kept?.fields }
        for (const [id, signature] of Object.entries(kept?.calls ?? {}))
          signatures.set(id, signature)
      }
    }
  }
  const signed = calls.map((call) => {
    const signature = signatures.get(call.id)
    // Once: a request may repeat an id thousands of times, which would multiply its size.
    signatures.delete(call.id)
    return signature === undefined ? call : { ...call, extra_content: signature }
  })
  return {
    role: 'assistant',
    // Null is for messages of calls alone.
    content: texts.length > 0 ? texts : calls.length > 0 ? null : '',
    ...(signed.length > 0 ? { tool_calls: signed } : {}),
    ...unsigned,
    ...extra,
    ...(reasoning.length > 0 ? { reasoning_details: reasoning } : {}),
  }
}

function toToolCall({ id, name, input }: JsonObject, path: string): JsonObject {
  if (typeof id !== 'string' || typeof name !== 'string')
    throw new InvalidField(`${path} deve ter "id" e "name".`)
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input ?? {}) } }
}

function listBlocks(content: unknown, path: string): JsonObject[] {
  if (!Array.isArray(content) || !content.every(isObject))
    throw new InvalidField(`${path} deve ser um texto ou uma lista de blocos.`)
  return content
}

function kept({ cache_control: control }: JsonObject): JsonObject {
  return control === undefined ? {} : { cache_control: control }
}

/** Translates the input items of a Responses request to the messages of chat-completions. */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { InvalidField } from '../fields.ts'
import { toFunctionItem } from './client-run-tools.ts'
import type { KeptReasoning } from './reasoning-seal.ts'
import { upstreamNameOf } from './to-chat-tools.ts'
import { addressOfInputFile, fileKindOf, imageKindOf } from '../../../../media-of-part.ts'
import { ADDRESS_RULE, IMAGE_RULE } from '../../read-messages.ts'

/** One turn of the assistant: consecutive items of the assistant are one message. */
interface Turn {
  readonly parts: JsonObject[]
  readonly calls: JsonObject[]
  /** Joined at the end of the turn: a turn may have thousands of items. */
  readonly reasoning: KeptReasoning[]
}

export type OpenReasoning = (sealed: string) => KeptReasoning | undefined

/** `itemsBefore` of the input are stored ones: faults name the place in the client's own. Throws `InvalidField`. */
export function toChatMessages(
  input: unknown,
  openReasoning: OpenReasoning,
  itemsBefore = 0,
): JsonObject[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }]
  if (!Array.isArray(input) || input.length === 0)
    throw new InvalidField(
      'O campo "input" é obrigatório e deve ser um texto ou uma lista com pelo menos um item.',
    )
  const conversation = createConversation(openReasoning)
  const lastUserIndex = input.findLastIndex(isOfUser)
  for (const [index, item] of (input as unknown[]).entries()) {
    const path = placeOf(index, itemsBefore)
    if (!isObject(item)) throw new InvalidField(`${path} deve ser um objeto.`)
    if (item.type === 'item_reference') checkReference(item.id, index > lastUserIndex, path)
    else conversation.add(toFunctionItem(item), path)
  }
  return conversation.end()
}

export function placeOf(index: number, itemsBefore: number): string {
  return index < itemsBefore ? 'previous_response_id' : `input[${index - itemsBefore}]`
}

/** Reasoning, and the work of a provider's own tools: a conversation goes on without them. */
const LEFT_OUT = /^(?:rs|ws)_/

/**
 * A reference that is still here leads to nothing that is stored. Within the running turn, one to a message stands for the
 * text beside tool calls, which are sent whole: the loop of an agent goes on without that text. Before it, a whole answer
 * would be missing; and a call, or the summary of a conversation, is missing anywhere.
 */
function checkReference(id: unknown, isOfRunningTurn: boolean, path: string): void {
  const text = typeof id === 'string' ? id : ''
  if (LEFT_OUT.test(text) || (isOfRunningTurn && text.startsWith('msg_'))) return
  throw new InvalidField(
    `${path}: o item "${text.slice(0, 100)}" não foi encontrado. Só ficam guardadas as respostas de contas que as guardam (Perfil, Guardar respostas; stored_responses_days), sem "store": false e dentro do prazo. Envie o item inteiro: o AI SDK o faz com a opção "store: false" em providerOptions.`,
  )
}

function isOfUser(item: unknown): boolean {
  return isObject(item) && item.role === 'user'
}

function createConversation(openReasoning: OpenReasoning) {
  const messages: JsonObject[] = []
  let turn: Turn | undefined
  /** Media of tools' results follow after all results, in a user's message: a tool's message has only texts. */
  let media: JsonObject[] = []

  function endTurn(): void {
    if (turn) messages.push(...toMessages(turn))
    turn = undefined
  }

  function endResults(): void {
    if (media.length > 0) messages.push({ role: 'user', content: media })
    media = []
  }

  function openTurn(): Turn {
    endResults()
    return (turn ??= { parts: [], calls: [], reasoning: [] })
  }

  function addMessage({ role, content }: JsonObject, path: string): void {
    const parts = toContentParts(content, `${path}.content`)
    if (role === 'assistant') return void openTurn().parts.push(...parts)
    if (role !== 'user' && role !== 'system' && role !== 'developer')
      throw new InvalidField(`${path}.role deve ser user, assistant, system ou developer.`)
    endTurn()
    endResults()
    // OpenAI treats both roles alike, and other upstreams know only `system`.
    messages.push({ role: role === 'user' ? 'user' : 'system', content: toContent(parts) })
  }

  function addCall(item: JsonObject, text: unknown, path: string): void {
    if (typeof item.call_id !== 'string' || typeof item.name !== 'string')
      throw new InvalidField(`${path} deve ter "call_id" e "name".`)
    openTurn().calls.push({
      id: item.call_id,
      type: 'function',
      function: {
        name: upstreamNameOf(item.name, item.namespace),
        arguments: typeof text === 'string' ? text : JSON.stringify(text ?? {}),
      },
    })
  }

  function addResult({ call_id: id, output }: JsonObject, path: string): void {
    if (typeof id !== 'string') throw new InvalidField(`${path}.call_id é obrigatório.`)
    endTurn()
    const isListed = typeof output === 'string' || Array.isArray(output)
    const parts = toContentParts(isListed ? output : JSON.stringify(output ?? ''), `${path}.output`)
    const texts = parts.filter(({ type }) => type === 'text')
    media.push(...parts.filter(({ type }) => type !== 'text'))
    messages.push({
      role: 'tool',
      tool_call_id: id,
      content: texts.length > 0 ? toContent(texts) : '',
    })
  }

  function addReasoning({ encrypted_content: sealed }: JsonObject): void {
    const kept = typeof sealed === 'string' ? openReasoning(sealed) : undefined
    if (kept) openTurn().reasoning.push(kept)
  }

  return {
    add(item: JsonObject, path: string): void {
      switch (item.type) {
        case undefined:
        case null:
        case 'message':
          return addMessage(item, path)
        case 'function_call':
          return addCall(item, item.arguments, path)
        case 'custom_tool_call':
          return addCall(item, { input: item.input }, path)
        case 'function_call_output':
        case 'custom_tool_call_output':
          return addResult(item, path)
        case 'reasoning':
          return addReasoning(item)
        // Only `/v1/responses` reads them, before the translation.
        case 'compaction_trigger':
        case 'compaction':
          throw new InvalidField(
            `${path}: "${item.type}" só é lido em POST /responses, e "compaction_trigger" só como último item.`,
          )
        // The work of a provider's own tools, which do not exist here.
        default:
      }
    },
    end(): JsonObject[] {
      endTurn()
      endResults()
      return messages
    },
  }
}

/** Texts and lists of several reasoning items of one turn follow each other. */
function joinFields(all: readonly JsonObject[]): JsonObject {
  const joined = new Map<string, unknown>()
  for (const [name, value] of all.flatMap((fields) => Object.entries(fields))) {
    const former = joined.get(name)
    if (typeof former === 'string' && typeof value === 'string') joined.set(name, former + value)
    else if (Array.isArray(former) && Array.isArray(value)) append(former, value)
    else joined.set(name, Array.isArray(value) ? [...(value as unknown[])] : value)
  }
  return Object.fromEntries(joined)
}

/** Item by item: a call with a long list as its arguments overflows the stack. */
function append(list: unknown[], more: readonly unknown[]): void {
  for (const each of more) list.push(each)
}

/** No message for reasoning alone: it belongs to an answer that the client cut off. */
function toMessages({ parts, calls, reasoning }: Turn): JsonObject[] {
  if (parts.length === 0 && calls.length === 0) return []
  const extras = new Map(reasoning.flatMap((kept) => Object.entries(kept.calls)))
  const signed = calls.map((call) => {
    const extra = extras.get(call.id as string)
    // Once: a request may repeat an id thousands of times, which would multiply its size.
    extras.delete(call.id as string)
    return extra === undefined ? call : { ...call, extra_content: extra }
  })
  return [
    {
      role: 'assistant',
      content: parts.length === 0 ? null : toContent(parts),
      ...(signed.length > 0 ? { tool_calls: signed } : {}),
      ...joinFields(reasoning.map(({ fields }) => fields)),
    },
  ]
}

/**
 * Translates the content of a Responses item, a text or a list of parts, to that of a chat message. Throws
 * `InvalidField`.
 */
function toContentParts(content: unknown, path: string): JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (!Array.isArray(content) || !content.every(isObject))
    throw new InvalidField(`${path} deve ser um texto ou uma lista de partes.`)
  return content.map((part, index) => toPart(part, `${path}[${index}]`))
}

/** One text as a string, which more upstreams take than a list with one part. */
function toContent(parts: JsonObject[]): string | JsonObject[] {
  const [first] = parts
  if (parts.length === 1 && first?.type === 'text') return first.text as string
  return parts
}

function toPart(part: JsonObject, path: string): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text':
      return { type: 'text', text: textOf(part.text, `${path}.text`) }
    case 'refusal':
      return { type: 'refusal', refusal: textOf(part.refusal, `${path}.refusal`) }
    case 'input_image':
      return toImage(part, path)
    case 'input_file':
      return toFile(part, path)
    default:
      throw new InvalidField(
        `${path}: partes deste tipo não são aceitas aqui; use input_text, input_image ou input_file.`,
      )
  }
}

function toImage({ image_url: url, detail }: JsonObject, path: string): JsonObject {
  const address = isObject(url) ? url.url : url
  if (typeof address !== 'string')
    throw new InvalidField(
      `${path}.image_url é obrigatório: envie a imagem em base64 ou o endereço dela; "file_id" não está disponível.`,
    )
  if (imageKindOf(address) === undefined) throw new InvalidField(`${path}.image_url ${IMAGE_RULE}`)
  return { type: 'image_url', image_url: { url: address, detail } }
}

function toFile(part: JsonObject, path: string): JsonObject {
  const { file_data: data, filename } = part
  const address = addressOfInputFile(part)
  if (address !== undefined) {
    const file = { ...(typeof filename === 'string' ? { filename } : {}), file_data: address }
    if (fileKindOf(file) !== 'address') throw new InvalidField(`${path}.file_url ${ADDRESS_RULE}`)
    return { type: 'file', file }
  }
  if (typeof data !== 'string')
    throw new InvalidField(
      `${path}.file_data é obrigatório: envie o documento em base64, ou o endereço dele em "file_url"; "file_id" não está disponível.`,
    )
  const file = {
    filename: typeof filename === 'string' ? filename : 'document.pdf',
    file_data: data.startsWith('data:') ? data : `data:application/pdf;base64,${data}`,
  }
  return { type: 'file', file }
}

function textOf(text: unknown, path: string): string {
  if (typeof text === 'string') return text
  throw new InvalidField(`${path} deve ser um texto.`)
}

import { BadRequest, invalidType, missing, type JsonObject } from './read-field.ts'
import { isObject } from '../../platform/lib/is-object.ts'

export interface ChatMessage {
  readonly role: string
  /** All text parts, one per line. */
  readonly text: string
  /** Parts that are not text: images, sound, files. */
  readonly attachmentCount: number
  /** For the role `tool`, the call that the message answers. */
  readonly toolCallId: string | undefined
  /** For the role `assistant`. */
  readonly toolCalls: readonly ToolCallMade[]
}

export interface ToolCallMade {
  readonly id: string
  readonly name: string
  readonly arguments: string
}

/** As agents and gateways mark what they tell the model in a turn of the user. */
const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g

/**
 * What the answer follows: the conversation without instructions, which clients also send behind the last turn, and
 * without reminders, which are instructions in a turn of the user.
 */
export function listTurns(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.flatMap((message): ChatMessage[] => {
    const { role, text, attachmentCount } = message
    if (role === 'system' || role === 'developer') return []
    if (role !== 'user' || !text.includes('<system-reminder>')) return [message]
    const said = text.replace(REMINDER, '').trim()
    return said === '' && attachmentCount === 0 ? [] : [{ ...message, text: said }]
  })
}

/** Returns the results of tools behind the last answer, also if the user has said something since. */
export function lastResults(turns: readonly ChatMessage[]): ChatMessage[] {
  const lastAnswer = turns.findLastIndex(({ role }) => role === 'assistant')
  return turns.slice(lastAnswer + 1).filter(({ role }) => role === 'tool')
}

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer']
const PART_TYPES = ['text', 'image_url', 'input_audio', 'file', 'refusal']

export function readMessages(messages: unknown): ChatMessage[] {
  if (messages === undefined || messages === null) throw missing('messages')
  if (!Array.isArray(messages)) throw invalidType('messages', 'an array of objects', messages)
  if (messages.length === 0) {
    throw new BadRequest(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, " +
        'but got an empty array instead.',
      'messages',
      'empty_array',
    )
  }
  return messages.map((message, index) => readMessage(message, `messages[${index}]`))
}

function readMessage(message: unknown, param: string): ChatMessage {
  if (!isObject(message)) throw invalidType(param, 'an object', message)
  const role = readOneOf(message.role, ROLES, `${param}.role`)
  const toolCallId = message.tool_call_id
  if (role === 'tool' && typeof toolCallId !== 'string') throw missing(`${param}.tool_call_id`)
  return {
    role,
    ...readContent(message, role, `${param}.content`),
    toolCallId: typeof toolCallId === 'string' ? toolCallId : undefined,
    toolCalls: readToolCalls(message.tool_calls, `${param}.tool_calls`),
  }
}

function readContent(
  message: JsonObject,
  role: string,
  param: string,
): Pick<ChatMessage, 'text' | 'attachmentCount'> {
  const { content } = message
  if (typeof content === 'string') return { text: content, attachmentCount: 0 }
  // An assistant's message may consist of tool calls only.
  if ((content === undefined || content === null) && role === 'assistant') {
    return { text: '', attachmentCount: 0 }
  }
  if (!Array.isArray(content)) throw invalidType(param, 'a string or an array of objects', content)
  const texts: string[] = []
  let attachmentCount = 0
  content.forEach((part: unknown, index) => {
    const partParam = `${param}[${index}]`
    if (!isObject(part)) throw invalidType(partParam, 'an object', part)
    const type = readOneOf(part.type, PART_TYPES, `${partParam}.type`)
    if (type !== 'text' && type !== 'refusal') {
      checkAttachment(part, type, partParam)
      attachmentCount += 1
      return
    }
    const text = part[type]
    if (typeof text !== 'string') throw missing(`${partParam}.${type}`)
    texts.push(text)
  })
  return { text: texts.join('\n'), attachmentCount }
}

function checkAttachment(part: JsonObject, type: string, param: string): void {
  const attachment = part[type]
  if (!isObject(attachment)) throw missing(`${param}.${type}`)
  if (type === 'image_url' && typeof attachment.url !== 'string') {
    throw missing(`${param}.image_url.url`)
  }
}

function readToolCalls(calls: unknown, param: string): ToolCallMade[] {
  if (calls === undefined || calls === null) return []
  if (!Array.isArray(calls)) throw invalidType(param, 'an array of objects', calls)
  return calls.map((call: unknown, index) => {
    const called = isObject(call) ? (call.function ?? call.custom) : undefined
    if (!isObject(call) || typeof call.id !== 'string') throw missing(`${param}[${index}].id`)
    if (!isObject(called) || typeof called.name !== 'string') {
      throw missing(`${param}[${index}].function.name`)
    }
    const written = called.arguments ?? called.input
    const text = typeof written === 'string' ? written : ''
    return { id: call.id, name: called.name, arguments: text }
  })
}

function readOneOf(value: unknown, allowed: readonly string[], param: string): string {
  if (value === undefined || value === null) throw missing(param)
  if (typeof value === 'string' && allowed.includes(value)) return value
  const shown = typeof value === 'string' ? value : JSON.stringify(value)
  throw new BadRequest(
    `Invalid value: '${shown}'. Supported values are: ${allowed.map((one) => `'${one}'`).join(', ')}.`,
    param,
    'invalid_value',
  )
}

import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  LanguageModelV4ToolCallPart,
} from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'
import {
  readCacheControl,
  isBlank,
  isSaid,
  listParts,
  textOf,
  toUserParts,
  type UserPart,
} from './to-user-parts.ts'
import type { ReadFile } from './read-file.ts'
import { asReminder } from '../system-reminder.ts'
import { RefusedRequest } from './to-failure.ts'
import { BODY_BOUNDS, findJsonExcess } from '../../../platform/lib/bound-json.ts'
import { parseExactly } from '../../../platform/lib/exact-json.ts'
import { readReasoningDetails, readThoughtSignature } from './reasoning-details.ts'

/** Fewer characters cannot contain enough values to matter. */
const BOUNDED_FROM_CHARACTERS = 16 * 1024

/**
 * The arguments of tool calls are texts of JSON within the JSON that the gateway has bounded. Together they may contain
 * as much as a body, because the packages need them parsed. Throws a `RefusedRequest`.
 */
function assertArguments(messages: readonly JsonObject[]): void {
  const texts = messages.flatMap(({ tool_calls: calls }) =>
    Array.isArray(calls) ? calls.flatMap(argumentsOf) : [],
  )
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  if (characters < BOUNDED_FROM_CHARACTERS) return
  if (findJsonExcess(Buffer.from(texts.join(',')), BODY_BOUNDS) !== undefined)
    throw new RefusedRequest('the arguments of the tool calls contain too many values')
}

function argumentsOf(call: unknown): string[] {
  const text = isObject(call) && isObject(call.function) ? call.function.arguments : undefined
  return typeof text === 'string' ? [text] : []
}

/**
 * Converts the messages of a chat-completions request. Most upstreams take instructions only at the front, so later ones
 * are reminders in a turn of the user: a prompt that has grown begins as before, and the upstream's cache stays valid.
 * Merges consecutive messages of the same role, which most upstreams require. Rejects with a `RefusedRequest`.
 */
export async function toPrompt(
  messages: unknown,
  readFile: ReadFile,
): Promise<LanguageModelV4Prompt> {
  const instructions: Instruction[] = []
  const turns: LanguageModelV4Prompt = []
  const toolNames = new Map<string, string>()

  /** Reminders that wait: results of tools must follow their calls at once. */
  let waiting: UserPart[] = []
  const remind = (): void => {
    addTurn(turns, { role: 'user', content: waiting })
    waiting = []
  }

  const list = listParts(messages)
  assertArguments(list)
  for (const message of list) {
    if (message.role === 'user' || message.role === 'assistant') remind()
    switch (message.role) {
      case 'system':
      case 'developer':
        if (turns.length === 0) instructions.push(...toInstructions(message.content))
        else waiting.push(...toInstructions(message.content).map(toReminder))
        break
      case 'user':
        addTurn(turns, { role: 'user', content: await toUserParts(message.content, readFile) })
        break
      case 'assistant': {
        const content = toAssistantParts(message)
        for (const part of content) {
          if (part.type === 'tool-call') toolNames.set(part.toolCallId, part.toolName)
        }
        addTurn(turns, { role: 'assistant', content })
        break
      }
      case 'tool':
        addTurn(turns, {
          role: 'tool',
          content: [await toToolResult(message, toolNames, readFile)],
        })
        break
      default:
        throw new RefusedRequest('a message of an unknown role')
    }
  }
  remind()
  // Upstreams require a question. Clients that have a single text may call it instructions.
  if (turns.length === 0) return instructions.map(asQuestion)
  return [...instructions, ...turns]
}

type Instruction = Extract<LanguageModelV4Message, { role: 'system' }>

function asQuestion({ content: text, ...rest }: Instruction): LanguageModelV4Message {
  return { ...rest, role: 'user', content: [{ type: 'text', text }] }
}

function toReminder({ content, providerOptions }: Instruction): UserPart {
  return {
    type: 'text',
    text: asReminder(content),
    ...(providerOptions ? { providerOptions } : {}),
  }
}

function toInstructions(content: unknown): Instruction[] {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ role: 'system', content }]
  return listParts(content)
    .filter(isSaid)
    .map((part) => ({
      role: 'system',
      content: textOf(part.text),
      ...readCacheControl(part),
    }))
}

function addTurn(turns: LanguageModelV4Prompt, turn: LanguageModelV4Message): void {
  if (turn.content.length === 0) return
  const last = turns.at(-1)
  if (last?.role === 'user' && turn.role === 'user') last.content.push(...turn.content)
  else if (last?.role === 'assistant' && turn.role === 'assistant')
    last.content.push(...turn.content)
  else if (last?.role === 'tool' && turn.role === 'tool') last.content.push(...turn.content)
  else turns.push(turn)
}

async function toToolResult(
  message: JsonObject,
  toolNames: ReadonlyMap<string, string>,
  readFile: ReadFile,
): Promise<LanguageModelV4ToolResultPart> {
  const toolCallId = textOf(message.tool_call_id)
  const toolName = toolNames.get(toolCallId)
  if (toolName === undefined) throw new RefusedRequest('a tool message that answers no tool call')
  const common = { type: 'tool-result' as const, toolCallId, toolName }
  const { content } = message
  if (typeof content === 'string') return { ...common, output: { type: 'text', value: content } }

  const parts = await toUserParts(content, readFile.data)
  const marked = listParts(content).findLast((part) => isObject(part.cache_control)) ?? {}
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined))
  const isTextOnly = texts.every((text) => text !== undefined)
  return {
    ...common,
    ...readCacheControl(marked),
    output: isTextOnly
      ? { type: 'text', value: texts.join('\n') }
      : {
          type: 'content',
          value: parts.map((part) => {
            const { providerOptions: _ofTheWhole, ...rest } = part
            return rest
          }),
        },
  }
}

type AssistantParts = Extract<LanguageModelV4Message, { role: 'assistant' }>['content']

/** Converts an earlier answer of the model: its reasoning, then its text, then its tool calls. */
function toAssistantParts(message: JsonObject): AssistantParts {
  return [...readReasoning(message), ...readTexts(message), ...readToolCalls(message.tool_calls)]
}

function readReasoning(message: JsonObject): AssistantParts {
  const parts = readReasoningDetails(message.reasoning_details)
  if (parts.length > 0) return parts
  const text = message.reasoning_content
  return typeof text === 'string' && text !== '' ? [{ type: 'reasoning', text }] : []
}

function readTexts(message: JsonObject): AssistantParts {
  const signature = readThoughtSignature(message)
  const { content, refusal } = message
  if (typeof content === 'string') {
    return isBlank(content) && !signature.providerOptions
      ? []
      : [{ type: 'text', text: content, ...signature }]
  }
  const parts = listParts(content)
    .filter(isSaid)
    .map((part) => ({
      type: 'text' as const,
      text: textOf(part.type === 'refusal' ? part.refusal : part.text),
      ...readCacheControl(part),
    }))
  if (parts.length > 0) return parts
  if (typeof refusal === 'string') return [{ type: 'text', text: refusal }]
  return signature.providerOptions ? [{ type: 'text', text: '', ...signature }] : []
}

function readToolCalls(calls: unknown): LanguageModelV4ToolCallPart[] {
  if (!Array.isArray(calls)) return []
  return calls.map((call: unknown) => {
    if (!isObject(call) || !isObject(call.function)) {
      throw new RefusedRequest('a tool call that is not one of a function')
    }
    return {
      type: 'tool-call',
      toolCallId: textOf(call.id),
      toolName: textOf(call.function.name),
      input: parseArguments(call.function.arguments),
      ...readThoughtSignature(call),
    }
  })
}

/**
 * Upstreams require an object. Clients send an empty string for a call without arguments, and some an object itself. What
 * a model wrote wrongly stays in the conversation that its client sends, which must go on: it is shown as it is.
 */
function parseArguments(text: unknown): unknown {
  if (text === undefined || text === null || text === '') return {}
  if (isObject(text)) return text
  const written = textOf(text)
  try {
    const value = parseExactly(written)
    return isObject(value) ? value : { value }
  } catch {
    return { invalid_json: written }
  }
}

/**
 * Translates a Responses request to the chat-completions shape. Fields without an equivalent there are left out; a field
 * whose absence would change the conversation is refused.
 */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { findNumberFault, isAbsent } from '../../../field-faults.ts'
import { OUTPUT_TOKENS_ABSURD } from '../../chat-request.ts'
import { InvalidField } from '../fields.ts'
import type { ReasoningSeal } from './reasoning-seal.ts'
import { toChatMessages } from './to-chat-messages.ts'
import { toChatTools, type TranslatedTools } from './to-chat-tools.ts'

/** Translates a Responses body to the chat-completions shape. Throws `InvalidField`. */
export function toChatBody(
  body: JsonObject,
  seal: ReasoningSeal,
  itemsBefore: number,
): { body: JsonObject; tools: TranslatedTools } {
  const fault =
    findUnavailable(body) ??
    // In a chat, the field has another name.
    findNumberFault(body, 'max_output_tokens', 1, OUTPUT_TOKENS_ABSURD, true)
  if (fault !== undefined) throw new InvalidField(fault)
  const tools = toChatTools(body)
  const messages = toChatMessages(
    body.input,
    (sealed) => seal.open(sealed, body.model),
    itemsBefore,
  )
  if (messages.length === 0)
    throw new InvalidField('O campo "input" deve ter pelo menos uma mensagem.')
  const chat = {
    model: body.model,
    models: body.models,
    provider: body.provider,
    stream: body.stream,
    stream_options: body.stream_options,
    messages: [...toInstructions(body.instructions), ...messages],
    max_tokens: body.max_output_tokens,
    temperature: body.temperature,
    top_p: body.top_p,
    ...tools.fields,
    reasoning_effort: isObject(body.reasoning) ? body.reasoning.effort : undefined,
    ...toTextFields(body.text),
    prompt_cache_key: body.prompt_cache_key,
    safety_identifier: body.safety_identifier,
    user: body.user,
  }
  return { body: chat, tools }
}

function findUnavailable(body: JsonObject): string | undefined {
  if (body.background === true)
    return 'O campo "background" não está disponível: use "stream": true para respostas longas.'
  if (!isAbsent(body.conversation))
    return 'O campo "conversation" não está disponível: envie a conversa inteira em "input".'
  if (!isAbsent(body.prompt))
    return 'O campo "prompt" não está disponível: envie o texto em "instructions" e "input".'
  return undefined
}

function toInstructions(instructions: unknown): JsonObject[] {
  if (isAbsent(instructions) || instructions === '') return []
  if (typeof instructions !== 'string')
    throw new InvalidField('O campo "instructions" deve ser um texto.')
  return [{ role: 'system', content: instructions }]
}

function toTextFields(text: unknown): JsonObject {
  if (!isObject(text)) return {}
  const { format, verbosity } = text
  return { verbosity, response_format: toResponseFormat(format) }
}

function toResponseFormat(format: unknown): JsonObject | undefined {
  if (!isObject(format)) return undefined
  const { type, ...schema } = format
  if (type === 'json_object') return { type }
  return type === 'json_schema' ? { type, json_schema: schema } : undefined
}

/** The settings of a request; `null` means the model's default. */
import type { ChatBody } from '../../api/stream-chat.ts'
import { messagesOf, type Turn } from './conversation.ts'
import { readTools } from './tools-text.ts'

export interface ChatSettings {
  readonly system: string
  readonly temperature: number | null
  readonly topP: number | null
  readonly maxTokens: number | null
  readonly isJson: boolean
  /** As typed; invalid JSON is not sent. */
  readonly tools: string
}

export const SETTINGS_AT_FIRST: ChatSettings = {
  system: '',
  temperature: null,
  topP: null,
  maxTokens: null,
  isJson: false,
  tools: '',
}

/** The request body without the fields that only streaming needs. */
export function chatBody(model: string, turns: readonly Turn[], settings: ChatSettings): ChatBody {
  const { system, temperature, topP, maxTokens, isJson } = settings
  const tools = readTools(settings.tools)
  return {
    model,
    messages: messagesOf(turns, system),
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { top_p: topP }),
    ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
    ...(isJson ? { response_format: { type: 'json_object' } } : {}),
    ...('tools' in tools && tools.tools.length > 0 ? { tools: [...tools.tools] } : {}),
  }
}

/** The number of settings behind the button that differ from the defaults. */
export function changedCount(settings: ChatSettings): number {
  return (Object.keys(SETTINGS_AT_FIRST) as (keyof ChatSettings)[]).filter(
    (name) => settings[name] !== SETTINGS_AT_FIRST[name],
  ).length
}

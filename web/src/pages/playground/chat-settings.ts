/** How the model is asked; `null` is what the model does by itself. */
import type { ChatBody } from '../../api/stream-chat.ts'
import { messagesOf, type Turn } from './conversation.ts'
import { readTools } from './tools-text.ts'

export interface ChatSettings {
  /** Empty until one was chosen: then the page has one for everybody. */
  readonly model: string
  readonly system: string
  readonly temperature: number | null
  readonly topP: number | null
  readonly maxTokens: number | null
  readonly isJson: boolean
  /** As typed; what cannot be read is not sent. */
  readonly tools: string
}

export const SETTINGS_AT_FIRST: ChatSettings = {
  model: '',
  system: '',
  temperature: null,
  topP: null,
  maxTokens: null,
  isJson: false,
  tools: '',
}

/** The request, without what only streaming needs. */
export function chatBody(turns: readonly Turn[], settings: ChatSettings): ChatBody {
  const { model, system, temperature, topP, maxTokens, isJson } = settings
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

/** How many of the settings behind the button differ from what they are at first. */
export function changedCount(settings: ChatSettings): number {
  return (Object.keys(SETTINGS_AT_FIRST) as (keyof ChatSettings)[]).filter(
    (name) => name !== 'model' && settings[name] !== SETTINGS_AT_FIRST[name],
  ).length
}

/** The adapter for upstreams that speak the formats of OpenAI themselves. */
import type { Provider } from '../contract.ts'
import { createChatBody, type ChatBodyOptions } from './chat-body.ts'
import { OPEN_CHAT_FIELDS } from './chat-fields.ts'
import { createCompleteChat } from './complete-chat.ts'
import { createEmbed } from './embed.ts'
import { createGenerateImages } from './generate-images.ts'
import { createTranscribe } from './transcribe.ts'
import { openUpstream, type UpstreamOptions } from './upstream.ts'

export interface OpenAiCompatibleOptions
  extends UpstreamOptions, Pick<ChatBodyOptions, 'maxTokensField' | 'serviceTier'> {
  readonly cancelStopsBilling: boolean
  /** False where the upstream bills the pages of files beside their tokens; true if not given. */
  readonly takesFiles?: boolean | undefined
  /** `OPEN_CHAT_FIELDS` if not given. */
  readonly chatFields?: ReadonlySet<string> | undefined
}

export function createOpenAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const upstream = openUpstream(options)
  const { chatFields = OPEN_CHAT_FIELDS, maxTokensField, serviceTier } = options
  const chatBody = createChatBody({ fields: chatFields, maxTokensField, serviceTier })
  return {
    cancelStopsBilling: options.cancelStopsBilling,
    completeChat: createCompleteChat(upstream, chatBody, options.takesFiles ?? true),
    measureChat: (content) => chatBody.measure(content),
    embed: createEmbed(upstream),
    generateImages: createGenerateImages(upstream),
    transcribe: createTranscribe(upstream),
    async close() {
      await Promise.all([upstream.pool.destroy(), upstream.uploads.destroy()])
    },
  }
}

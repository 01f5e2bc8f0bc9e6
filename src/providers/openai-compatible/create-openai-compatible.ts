/** The adapter for upstreams that speak the formats of OpenAI themselves. */
import type { Provider } from '../contract.ts'
import { createCompleteChat } from './complete-chat.ts'
import { createEmbed } from './embed.ts'
import { createGenerateImages } from './generate-images.ts'
import { createTranscribe } from './transcribe.ts'
import { openUpstream, type UpstreamOptions } from './upstream.ts'

export interface OpenAiCompatibleOptions extends UpstreamOptions {
  readonly cancelStopsBilling: boolean
  /** What this upstream calls the limit of output tokens. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens'
}

export function createOpenAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const upstream = openUpstream(options)
  return {
    cancelStopsBilling: options.cancelStopsBilling,
    completeChat: createCompleteChat(upstream, options.maxTokensField),
    embed: createEmbed(upstream),
    generateImages: createGenerateImages(upstream),
    transcribe: createTranscribe(upstream),
    async close() {
      await Promise.all([upstream.pool.destroy(), upstream.uploads.destroy()])
    },
  }
}

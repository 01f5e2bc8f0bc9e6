/** The adapter for upstreams that use OpenAI's formats natively. */
import type { ChatContent, Provider } from '../contract.ts'
import { createChatBody, type ChatBodyOptions } from './chat-body.ts'
import { OPEN_CHAT_FIELDS } from './chat-deltas.ts'
import { createCompleteChat } from './complete-chat.ts'
import { createEmbed } from './embed.ts'
import { createGenerateImages } from './generate-images.ts'
import { createModerate } from './moderate.ts'
import { createSpeak } from './speak.ts'
import { createTranscribe } from './transcribe.ts'
import { createRerank } from './rerank.ts'
import { inlinedGrowth } from './inline-images.ts'
import { createSendNatively } from './native-responses/send-native-response.ts'
import {
  isNativeResponse,
  searchRoundsOfResponse,
  writeNativeResponse,
} from './native-responses/write-native-response.ts'
import { createVideos, type VideoFormat } from './videos.ts'
import { openUpstream, type UpstreamOptions } from './upstream.ts'

export interface OpenAiCompatibleOptions
  extends
    UpstreamOptions,
    Pick<ChatBodyOptions, 'maxTokensField' | 'serviceTier' | 'hasShortCallIds'> {
  readonly cancelStopsBilling: boolean
  /** False if the upstream bills the pages of files in addition to their tokens. Default: true. */
  readonly takesFiles?: boolean | undefined
  /**
   * True if the upstream opens the address of an image as an image or refuses it. Otherwise the size of such a chat is
   * unknown, because the address may lead to a document or video. Default: false.
   */
  readonly opensOnlyImages?: boolean | undefined
  /**
   * False: the gateway downloads the images of a chat and sends them instead of their addresses, because the upstream may
   * be in a network where it reaches more than the customer does. Default: true.
   */
  readonly opensAddresses?: boolean | undefined
  /** The upstream speaks the Responses format, too. Default: false. */
  readonly speaksResponses?: boolean | undefined
  /** Default: `openai`. */
  readonly videoFormat?: VideoFormat | undefined
  /** Default: `OPEN_CHAT_FIELDS`. */
  readonly chatFields?: ReadonlySet<string> | undefined
}

export function createOpenAiCompatible(options: OpenAiCompatibleOptions): Provider {
  const upstream = openUpstream(options)
  const { chatFields = OPEN_CHAT_FIELDS, maxTokensField, serviceTier, hasShortCallIds } = options
  const { takesFiles = true, opensOnlyImages, opensAddresses = true, speaksResponses } = options
  const chatBody = createChatBody({
    fields: chatFields,
    maxTokensField,
    serviceTier,
    hasShortCallIds,
  })
  /** The larger of the two forms in which a request may be sent. */
  const measure = (content: ChatContent): number => {
    const translated = chatBody.measure(content)
    if (!speaksResponses || !isNativeResponse(content)) return translated
    return Math.max(translated, writeNativeResponse(content, serviceTier).bytes)
  }
  return {
    cancelStopsBilling: options.cancelStopsBilling,
    completeChat: createCompleteChat(upstream, chatBody, {
      takesFiles,
      opensAddresses,
      sendNatively: speaksResponses ? createSendNatively(upstream, serviceTier) : undefined,
    }),
    measureChat(content) {
      if (!content.hasImageAddresses) return measure(content)
      if (!opensAddresses) return measure(content) + inlinedGrowth(content.body)
      return opensOnlyImages ? measure(content) : undefined
    },
    searchRounds(content) {
      const isInlined = content.hasImageAddresses && !opensAddresses
      return speaksResponses && !isInlined ? searchRoundsOfResponse(content) : undefined
    },
    embed: createEmbed(upstream),
    rerank: createRerank(upstream),
    moderate: createModerate(upstream),
    generateImages: createGenerateImages(upstream),
    editImages: createGenerateImages(upstream, '/images/edits'),
    speak: createSpeak(upstream),
    transcribe: createTranscribe(upstream),
    translate: createTranscribe(upstream, '/audio/translations'),
    videos: createVideos(upstream, options.videoFormat ?? 'openai'),
    close: upstream.close,
  }
}

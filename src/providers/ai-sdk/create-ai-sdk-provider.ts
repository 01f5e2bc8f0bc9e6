/**
 * The adapter for upstreams without the chat-completions format. The AI SDK's provider packages translate requests and
 * answers, over connections that we open.
 */
import { APICallError } from '@ai-sdk/provider'
import type { Provider } from '../contract.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { createEmbed } from './embed.ts'
import { createGenerateImages } from './generate-images.ts'
import { createMeasureChat } from './measure-chat.ts'
import { openFetch } from './open-fetch.ts'
import { openModels } from './open-models.ts'
import { createReadFile } from './read-file.ts'
import { toCallOptions } from './to-call-options.ts'
import { toChatAnswer } from './to-chat-answer.ts'
import { brokenStream, toChatStream } from './to-chat-stream.ts'
import { toFailure } from './to-failure.ts'

/** Throws a TypeError if the upstream's credentials, project or region are missing. */
export function createAiSdkProvider(options: AiSdkOptions): Provider {
  const connection = openFetch(options)
  const models = openModels(options, connection.fetch)
  const makesImages = options.kind === 'google' || options.kind === 'google-vertex'

  return {
    cancelStopsBilling: options.cancelStopsBilling,
    async completeChat(call, callerSignal) {
      const canceller = new AbortController()
      const signal = AbortSignal.any([callerSignal, canceller.signal])
      try {
        const model = models.language(call.model)
        const readFile = createReadFile(
          await model.supportedUrls,
          options.allowPrivateDownloads ?? false,
          signal,
        )
        const request = await toCallOptions(call, model, options.kind, readFile, signal)
        if (!call.isStream) return toChatAnswer(await model.doGenerate(request), call)
        const { stream } = await model.doStream(request)
        return toChatStream(stream, call, canceller, signal)
      } catch (error) {
        const failure = toFailure(error, signal)
        // The packages leave the connection open when they give up on a stream.
        canceller.abort()
        return isOfStream(error) && failure.reason !== 'aborted' ? brokenStream(failure) : failure
      }
    },
    measureChat: createMeasureChat(options),
    ...(models.embedding ? { embed: createEmbed(options.kind, models.embedding) } : {}),
    ...(makesImages ? { generateImages: createGenerateImages(models.language) } : {}),
    close: () => connection.close(),
  }
}

/** Whether a stream opened and its first event was an error; some packages read that event before they return. */
function isOfStream(error: unknown): boolean {
  return (
    APICallError.isInstance(error) &&
    error.responseHeaders?.['content-type']?.startsWith('text/event-stream') === true
  )
}

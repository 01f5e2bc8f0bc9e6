/**
 * The adapter for upstreams that do not speak the chat-completions format: requests and answers are
 * translated by the AI SDK's provider packages, over connections of our own.
 */
import { APICallError } from '@ai-sdk/provider'
import type { Provider } from '../contract.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { createEmbed } from './embed.ts'
import { createGenerateImages } from './generate-images.ts'
import { openFetch } from './open-fetch.ts'
import { openModels } from './open-models.ts'
import { toCallOptions } from './to-call-options.ts'
import { toChatAnswer } from './to-chat-answer.ts'
import { brokenStream, toChatStream } from './to-chat-stream.ts'
import { toFailure } from './to-failure.ts'

/** Throws a TypeError where the upstream's credentials or its place are missing. */
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
        const model = models.language(String(call.body.model))
        const request = await toCallOptions(call, model, options, signal)
        if (!call.isStream) return toChatAnswer(await model.doGenerate(request))
        const { stream } = await model.doStream(request)
        return toChatStream(stream, canceller, signal)
      } catch (error) {
        const failure = toFailure(error, signal)
        // A package that gives up on a stream leaves its connection open.
        canceller.abort()
        return isOfStream(error) && failure.reason !== 'aborted' ? brokenStream(failure) : failure
      }
    },
    ...(models.embedding ? { embed: createEmbed(options.kind, models.embedding) } : {}),
    ...(makesImages ? { generateImages: createGenerateImages(models.language) } : {}),
    close: () => connection.close(),
  }
}

/** A stream that was opened and whose first event is an error; some packages read that far. */
function isOfStream(error: unknown): boolean {
  return (
    APICallError.isInstance(error) &&
    error.responseHeaders?.['content-type']?.startsWith('text/event-stream') === true
  )
}

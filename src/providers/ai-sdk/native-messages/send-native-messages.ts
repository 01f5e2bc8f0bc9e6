/**
 * Sends requests of the Messages format to Anthropic over connections of our own. The package is for what must be
 * translated: it turns each event of a stream into several parts, and the gateway would turn them back.
 */
import {
  CHAT_ANSWER_BYTES_MAX,
  type ChatAnswer,
  type ChatCall,
  type ChatContent,
  type ChatStream,
  type JsonObject,
  type UpstreamFailure,
} from '../../contract.ts'
import { createStream } from '../../openai-compatible/create-stream.ts'
import { exchange } from '../../openai-compatible/exchange.ts'
import {
  BadAnswer,
  badAnswer,
  isEventStream,
  oneHeader,
  readRefused,
} from '../../openai-compatible/read-answer.ts'
import { openUpstream } from '../../openai-compatible/upstream.ts'
import { readError } from '../../read-failure.ts'
import type { AiSdkOptions } from '../ai-sdk-options.ts'
import { ANTHROPIC_ADDRESS } from './anthropic-address.ts'
import { createMessageParser, readNativeMessage } from './read-native-message.ts'
import type { NativeMessages } from './write-native-messages.ts'

const VERSION = '2023-06-01'

/** The fields that the gateway writes itself. */
export function headOf({ model, outputTokensMax, isStream }: ChatContent): JsonObject {
  return { model, max_tokens: outputTokensMax, ...(isStream ? { stream: true } : {}) }
}

export interface SendNativeMessages {
  send(
    call: ChatCall,
    native: NativeMessages,
    signal: AbortSignal,
  ): Promise<ChatAnswer | ChatStream | UpstreamFailure>
  close(): Promise<void>
}

export function createSendNativeMessages(options: AiSdkOptions): SendNativeMessages {
  const upstream = openUpstream({
    ...options,
    baseUrl: options.baseUrl ?? ANTHROPIC_ADDRESS,
    apiKey: undefined,
    headers: {
      'anthropic-version': VERSION,
      'x-api-key': options.apiKey ?? '',
      ...options.headers,
    },
  })
  const path = upstream.path('/messages')

  async function send(call: ChatCall, native: NativeMessages, signal: AbortSignal) {
    const { isStream, callId } = call
    const request = {
      path,
      method: 'POST',
      headers: {
        ...upstream.headers,
        'x-catraca-call-id': callId,
        ...(native.flags === undefined ? {} : { 'anthropic-beta': native.flags }),
      },
      body: native.write(headOf(call)),
    }
    const answered = await exchange(upstream.origin, request, upstream.silence, signal)
    if (answered.status !== 200) return await readRefused(answered, signal)
    const { body, headers } = answered
    if (!isStream) return readNativeMessage(await body.text(CHAT_ANSWER_BYTES_MAX), call)
    if (isEventStream(oneHeader(headers['content-type'])))
      return createStream(body, createMessageParser(call))
    body.cancel()
    return badAnswer('the answer is not the requested stream')
  }

  return {
    async send(call, native, signal) {
      try {
        return await send(call, native, signal)
      } catch (error) {
        return error instanceof BadAnswer ? badAnswer(error.message) : readError(error)
      }
    },
    async close() {
      upstream.origin.destroy()
      await upstream.uploads.destroy()
    },
  }
}

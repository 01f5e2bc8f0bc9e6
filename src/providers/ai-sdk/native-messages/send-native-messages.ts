/**
 * Sends requests of the Messages format to Anthropic over connections of our own. The package is for what must be
 * translated: it turns each event of a stream into several parts, and the gateway would turn them back.
 */
import type {
  ChatAnswer,
  ChatCall,
  ChatContent,
  ChatStream,
  JsonObject,
  UpstreamFailure,
} from '../../contract.ts'
import { forgetWritten } from '../../forget-written.ts'
import { createStream } from '../../openai-compatible/create-stream.ts'
import { exchange, type AnswerBody } from '../../openai-compatible/exchange.ts'
import { readCallError } from '../../openai-compatible/read-answer.ts'
import { readChat } from '../../openai-compatible/read-chat.ts'
import { openUpstream } from '../../openai-compatible/upstream.ts'
import type { AiSdkOptions } from '../ai-sdk-options.ts'
import { toFailure } from '../to-failure.ts'
import { ANTHROPIC_ADDRESS } from './anthropic-address.ts'
import { createMessageParser, readNativeMessage } from './read-native-message.ts'
import { writeNativeMessages } from './write-native-messages.ts'

const VERSION = '2023-06-01'

/** The fields that the gateway writes itself. */
export function headOf({ model, outputTokensMax, isStream }: ChatContent): JsonObject {
  return { model, max_tokens: outputTokensMax, ...(isStream ? { stream: true } : {}) }
}

export interface SendNativeMessages {
  /** Resolves to undefined if the request must be translated. */
  send(
    call: ChatCall,
    signal: AbortSignal,
  ): Promise<ChatAnswer | ChatStream | UpstreamFailure | undefined>
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

  async function send(call: ChatCall, native: WrittenMessages, signal: AbortSignal) {
    const request = {
      path,
      method: 'POST',
      headers: {
        ...upstream.headers,
        'x-catraca-call-id': call.callId,
        ...(native.flags === undefined ? {} : { 'anthropic-beta': native.flags }),
      },
      body: native.body,
    }
    const answered = await exchange(upstream.origin, request, upstream.silence, signal)
    if (answered.status === 200) forgetWritten(call.memo)
    const reading = {
      isStream: call.isStream,
      takeBytes: call.takeBytes,
      plain: (text: string) => readNativeMessage(text, call),
      stream: (body: AnswerBody) => createStream(body, createMessageParser(call)),
    }
    return readChat(answered, reading, signal)
  }

  return {
    async send(call, signal) {
      let written: WrittenMessages | undefined
      try {
        written = writeBody(call)
      } catch (error) {
        return toFailure(error, signal, false)
      }
      return written && send(call, written, signal).catch(readCallError)
    },
    close: () => upstream.close(),
  }
}

interface WrittenMessages {
  readonly body: string
  readonly flags: string | undefined
}

/** Undefined if the request must be translated. */
function writeBody(call: ChatCall): WrittenMessages | undefined {
  const native = writeNativeMessages(call, 'anthropic', call.model)
  return native && { body: native.write(headOf(call)), flags: native.flags }
}

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
import { readCount } from '../../openai-compatible/read-usage.ts'
import { readObject, readCallError, readChat } from '../../openai-compatible/read-answer.ts'
import { forgetWritten } from '../../forget-written.ts'
import { createStream } from '../../openai-compatible/create-stream.ts'
import { exchange, type AnswerBody } from '../../openai-compatible/exchange.ts'
import { openUpstream } from '../../openai-compatible/upstream.ts'
import type { AiSdkOptions } from '../ai-sdk-options.ts'
import { toFailure } from '../to-failure.ts'
import { ANTHROPIC_ADDRESS, ANTHROPIC_VERSION } from './message-fields.ts'
import { createMessageParser, readNativeMessage } from './read-native-message.ts'
import { writeNativeMessages } from './write-native-messages.ts'

/** Returns the fields that the gateway writes itself. */
export function headOf({ model, outputTokensMax, isStream }: ChatContent): JsonObject {
  return { model, max_tokens: outputTokensMax, ...(isStream ? { stream: true } : {}) }
}

export interface SendNativeMessages {
  /** Resolves to undefined if the request must be translated. */
  send(
    call: ChatCall,
    signal: AbortSignal,
  ): Promise<ChatAnswer | ChatStream | UpstreamFailure | undefined>
  /** Asks how many tokens the prompt of this body has, which is free; undefined if there is no answer in time. */
  count(body: JsonObject, flags: string | undefined): Promise<number | undefined>
  close(): Promise<void>
}

const COUNT_MS_MAX = 5_000
const COUNT_BYTES_MAX = 4_096
/** The fields of which a prompt is made; all others are refused there. */
const COUNTED_FIELDS = ['model', 'system', 'messages', 'tools', 'tool_choice', 'thinking']

export function createSendNativeMessages(options: AiSdkOptions): SendNativeMessages {
  const upstream = openUpstream({
    ...options,
    baseUrl: options.baseUrl ?? ANTHROPIC_ADDRESS,
    apiKey: undefined,
    headers: {
      'anthropic-version': ANTHROPIC_VERSION,
      'x-api-key': options.apiKey ?? '',
      ...options.headers,
    },
  })
  const path = upstream.path('/messages')
  const countPath = upstream.path('/messages/count_tokens')

  function post(
    path: string,
    { body, flags }: WrittenMessages,
    signal: AbortSignal,
    ids: Record<string, string> = {},
  ) {
    const beta = flags === undefined ? {} : { 'anthropic-beta': flags }
    const headers = { ...upstream.headers, ...ids, ...beta }
    const request = { path, method: 'POST', headers, body }
    return exchange(upstream.origin, request, upstream.silence, signal)
  }

  async function send(call: ChatCall, native: WrittenMessages, signal: AbortSignal) {
    const answered = await post(path, native, signal, { 'x-catraca-call-id': call.callId })
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
    async count(given, flags) {
      const fields = COUNTED_FIELDS.filter((field) => given[field] !== undefined)
      const body = JSON.stringify(Object.fromEntries(fields.map((field) => [field, given[field]])))
      try {
        const answered = await post(countPath, { body, flags }, AbortSignal.timeout(COUNT_MS_MAX))
        const text = await answered.body.text(COUNT_BYTES_MAX)
        const { input_tokens: tokens } = answered.status === 200 ? readObject(text) : {}
        return readCount(tokens) || undefined
      } catch {
        return undefined
      }
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

/** Sends chats in the chat-completions format; `chat-body.ts` builds the body. */
import { parseExactly } from '../../../platform/lib/exact-json.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import {
  type ChatAnswer,
  type ChatCall,
  type ChatStream,
  type JsonObject,
  type Provider,
  type UpstreamFailure,
} from '../contract.ts'
import { createDownloadFile, readDownloadFailure } from '../download-file.ts'
import type { ChatBody } from './chat-body.ts'
import { exchange, type AnswerBody } from './exchange.ts'
import { inlineImages } from './inline-images.ts'
import { completeCalls } from './number-calls.ts'
import { BadAnswer, readCallError, readObject, readChat } from './read-answer.ts'
import { readLateError } from '../read-failure.ts'
import { readStream } from './read-stream.ts'
import { readUsage, usageIn } from './read-usage.ts'
import { toPublishedForm } from './to-published-form.ts'
import type { Upstream } from './upstream.ts'

/** Usage in this format does not always separate audio from text tokens, which have different prices. */
const NO_AUDIO: UpstreamFailure = {
  kind: 'failure',
  reason: 'unsupported',
  detail: 'audio files are not sent in this format',
}
/** Some upstreams process the pages of files and bill each page. */
const NO_FILES: UpstreamFailure = {
  kind: 'failure',
  reason: 'unsupported',
  detail: 'this upstream bills the pages of files',
}

export function createCompleteChat(
  { origin, headers, silence, path: pathOf }: Upstream,
  chatBody: ChatBody,
  { takesFiles, opensAddresses, sendNatively }: ChatOptions,
): NonNullable<Provider['completeChat']> {
  const path = pathOf('/chat/completions')
  return async function completeChat(call, signal) {
    if (call.hasAudio) return NO_AUDIO
    if (call.hasFiles && !takesFiles) return NO_FILES
    const isInlined = call.hasImageAddresses && !opensAddresses
    if (isInlined && sendNatively && call.native?.format === 'responses')
      call.onTranslated?.('image_address')
    try {
      const native = isInlined ? undefined : await sendNatively?.(call, signal)
      if (native) return native
      // This text gets its own memo: the other routes send the text with the addresses.
      const sent = isInlined
        ? {
            ...call,
            body: await inlineImages(call.body, createDownloadFile(signal, false, call.takeBytes)),
            memo: {},
          }
        : call
      const request = {
        path,
        method: 'POST',
        headers: { ...headers, 'x-catraca-call-id': call.callId },
        body: chatBody.write(sent),
      } as const
      const answered = await exchange(origin, request, silence, signal)
      const { isStream, takeBytes } = call
      const stream = (body: AnswerBody): ChatStream => readStream(body, call)
      const reading = { isStream, takeBytes, plain: readAnswer, stream }
      return await readChat(answered, reading, signal)
    } catch (error) {
      return readDownloadFailure(error) ?? readCallError(error)
    }
  }
}

export interface ChatOptions {
  readonly takesFiles: boolean
  readonly opensAddresses: boolean
  /** Sends a request in the client's own format; undefined if it must be translated. */
  readonly sendNatively?: SendNatively | undefined
}

export type SendNatively = (
  call: ChatCall,
  signal: AbortSignal,
) => Promise<ChatAnswer | ChatStream | UpstreamFailure | undefined>

/** Throws `BadAnswer`. */
function readAnswer(text: string): ChatAnswer | UpstreamFailure {
  const body = readObject(text, undefined, parseExactly)
  if (!Array.isArray(body.choices) || body.choices.length === 0) {
    if (body.error) return readLateError(body.error, 'error in the answer')
    throw new BadAnswer('the answer has no choices')
  }
  const failure = toPublishedForm(body, 'message')
  if (failure) return failure
  completeCalls(body)
  for (const choice of body.choices.filter(isObject)) completeFinish(choice)
  return { kind: 'answer', body, usage: readUsage(usageIn(body)) }
}

/** Clients need a reason; a whole answer without one ended by itself. */
function completeFinish(choice: JsonObject): void {
  if (choice.finish_reason) return
  const calls = isObject(choice.message) ? choice.message.tool_calls : undefined
  choice.finish_reason = Array.isArray(calls) && calls.length > 0 ? 'tool_calls' : 'stop'
}

import { forgetWritten } from '../../forget-written.ts'
import type { SendNatively } from '../complete-chat.ts'
import { exchange, type AnswerBody } from '../exchange.ts'
import { readCallError, readChat } from '../read-answer.ts'
import type { Upstream } from '../upstream.ts'
import { readNativeResponse, readNativeStream } from './read-native-response.ts'
import { isNativeResponse, writeNativeResponse } from './write-native-response.ts'

/** Of this request, or of every request in this format. */
const REFUSALS: ReadonlySet<number> = new Set([400, 404, 405])

/**
 * Sends requests of the Responses format as they came. A refusal costs nothing, and the translation follows: it leaves
 * out what this upstream cannot take, such as reasoning that another account has encrypted.
 */
export function createSendNatively(
  { origin, headers, silence, path: pathOf }: Upstream,
  serviceTier: 'default' | undefined,
): SendNatively {
  const path = pathOf('/responses')
  return async function sendNatively(call, signal) {
    if (!isNativeResponse(call)) {
      // Audio is refused before.
      if (call.native?.format === 'responses') call.onTranslated?.('output_limit')
      return undefined
    }
    try {
      const { text } = writeNativeResponse(call, serviceTier)
      const sentCharacters = text.length
      const request = {
        path,
        method: 'POST',
        headers: { ...headers, 'x-catraca-call-id': call.callId },
        body: text,
      } as const
      const answered = await exchange(origin, request, silence, signal)
      if (REFUSALS.has(answered.status)) {
        answered.body.discard()
        call.onTranslated?.('refused')
        return undefined
      }
      if (answered.status === 200) forgetWritten(call.memo)
      const reading = {
        isStream: call.isStream,
        takeBytes: call.takeBytes,
        plain: (text: string) => readNativeResponse(text, call),
        stream: (body: AnswerBody) => readNativeStream(body, call, sentCharacters),
      }
      return await readChat(answered, reading, signal)
    } catch (error) {
      return readCallError(error)
    }
  }
}

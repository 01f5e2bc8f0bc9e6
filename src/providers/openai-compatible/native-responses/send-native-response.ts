import { CHAT_ANSWER_BYTES_MAX } from '../../contract.ts'
import { readError } from '../../read-failure.ts'
import type { SendNatively } from '../complete-chat.ts'
import { exchange } from '../exchange.ts'
import { BadAnswer, badAnswer, isEventStream, oneHeader, readRefused } from '../read-answer.ts'
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
    if (!isNativeResponse(call)) return undefined
    try {
      const request = {
        path,
        method: 'POST',
        headers: { ...headers, 'x-catraca-call-id': call.callId },
        body: writeNativeResponse(call, serviceTier).text,
      } as const
      const { status, headers: answered, body } = await exchange(origin, request, silence, signal)
      if (REFUSALS.has(status)) {
        body.discard()
        return undefined
      }
      if (status !== 200) return await readRefused({ status, headers: answered, body }, signal)
      if (!call.isStream) return readNativeResponse(await body.text(CHAT_ANSWER_BYTES_MAX))
      if (isEventStream(oneHeader(answered['content-type']))) return readNativeStream(body)
      body.cancel()
      return badAnswer('the answer is not the requested stream')
    } catch (error) {
      return error instanceof BadAnswer ? badAnswer(error.message) : readError(error)
    }
  }
}

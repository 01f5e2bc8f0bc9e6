import { parseExactly } from '../../../platform/lib/large-integers.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import { StreamBroken, type JsonObject, type UpstreamFailure } from '../contract.ts'
import { parseAnswer, TooDeep } from '../parse-answer.ts'

/** The object in an event of a stream, or the fault that breaks the stream. */
export function parseEvent(data: string, depthMax?: number): JsonObject | StreamBroken {
  let event: unknown
  try {
    event = parseAnswer(data, undefined, depthMax, parseExactly)
  } catch (error) {
    const detail = error instanceof TooDeep ? error.message : 'an event of the stream is not JSON'
    return broken('bad_answer', detail)
  }
  return isObject(event) ? event : broken('bad_answer', 'an event of the stream is not an object')
}

export function broken(reason: UpstreamFailure['reason'], detail: string): StreamBroken {
  return new StreamBroken({ kind: 'failure', reason, detail })
}

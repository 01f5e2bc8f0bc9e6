/** Writes the events of a streamed response, from the chunks of a stream in the chat-completions shape. */
import { isObject } from '../../../../lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Refusal } from '../../../refusal.ts'
import type { Charged } from '../../chat-format.ts'
import { readFinish } from './finish.ts'
import { toResponse, type ResponseEnd, type ResponseHead } from './response-head.ts'
import { createResponseOutput, type OutputOptions } from './response-output.ts'

export interface ResponseStream {
  /** The events of one chunk. */
  chunk(body: JsonObject): string | undefined
  /** The events after the last chunk. */
  end(charged: Charged): string
  /** The events after the last chunk of a stream that broke off. */
  broken(refused: Refusal): string
}

export function createResponseStream(head: ResponseHead, options: OutputOptions): ResponseStream {
  let events = ''
  let sequence = 0
  let finishReason: unknown
  /** The number of events before the end, which is not sent if its charge cannot be stored. */
  let sent: number | undefined

  function emit(type: string, fields: JsonObject): void {
    const data = JSON.stringify({ type, sequence_number: sequence, ...fields })
    sequence += 1
    events += `event: ${type}\ndata: ${data}\n\n`
  }

  const output = createResponseOutput(options, emit)

  function respond(type: string, end: ResponseEnd): void {
    emit(type, { response: toResponse(head, end) })
  }

  function begin(): void {
    if (sequence > 0) return
    respond('response.created', { status: 'in_progress', output: [] })
    respond('response.in_progress', { status: 'in_progress', output: [] })
  }

  function take(): string {
    const taken = events
    events = ''
    return taken
  }

  return {
    chunk({ choices }) {
      begin()
      const [choice] = Array.isArray(choices) ? (choices as unknown[]) : []
      if (isObject(choice)) {
        if (isObject(choice.delta)) output.add(choice.delta)
        if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason
      }
      const taken = take()
      return taken === '' ? undefined : taken
    },
    end(charged) {
      begin()
      sent = sequence
      const finish = readFinish(finishReason)
      output.end(finish.status === 'completed')
      respond(`response.${finish.status}`, { ...finish, output: output.items, charged })
      return take()
    },
    broken({ message }) {
      begin()
      sequence = sent ?? sequence
      const error = { code: 'server_error', message }
      respond('response.failed', { status: 'failed', output: output.items, error })
      return take()
    },
  }
}

/** Writes the events of a streamed response, from the chunks of a stream in the chat-completions shape. */
import { isObject } from '../../../../lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Refusal } from '../../../refusal.ts'
import type { Charged } from '../../chat-format.ts'
import { readFinish } from './finish.ts'
import { writeResponse, type ResponseEnd, type ResponseHead } from './response-head.ts'
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
    send(type, JSON.stringify(fields).slice(1))
  }

  /** `rest` is the JSON of the fields after those that every event has, with the end of the object. */
  function send(type: string, rest: string): void {
    events += `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence},${rest}\n\n`
    sequence += 1
  }

  const output = createResponseOutput(options, emit)

  function respond(end: ResponseEnd, ...types: readonly string[]): void {
    const rest = `"response":${writeResponse(head, end)}}`
    for (const type of types) send(type, rest)
  }

  function begin(): void {
    if (sequence > 0) return
    respond({ status: 'in_progress', output: [] }, 'response.created', 'response.in_progress')
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
      respond({ ...finish, output: output.items, charged }, `response.${finish.status}`)
      return take()
    },
    broken({ message }) {
      begin()
      sequence = sent ?? sequence
      const error = { code: 'server_error', message }
      respond({ status: 'failed', output: output.items, error }, 'response.failed')
      return take()
    },
  }
}

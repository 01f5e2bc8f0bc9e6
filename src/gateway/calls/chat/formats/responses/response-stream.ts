/** Writes the events of a streamed response, from the chunks of a stream in the chat-completions shape. */
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Refusal } from '../../../refusal.ts'
import type { Charged } from '../../chat-format.ts'
import { createResponseEvents } from './response-events.ts'
import type { ResponseHead } from './response-head.ts'
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
  const events = createResponseEvents(head)
  const output = createResponseOutput(options, events.emit)
  let finishReason: unknown

  return {
    chunk({ choices }) {
      events.begin()
      const [choice] = Array.isArray(choices) ? (choices as unknown[]) : []
      if (isObject(choice)) {
        if (isObject(choice.delta)) output.add(choice.delta)
        if (typeof choice.finish_reason === 'string') finishReason = choice.finish_reason
      }
      const text = events.take()
      return text === '' ? undefined : text
    },
    end(charged) {
      events.beginEnd()
      const finish = readFinish(finishReason)
      output.end(finish.status === 'completed')
      events.end({ ...finish, output: output.items, charged })
      return events.take()
    },
    broken({ message }) {
      events.fail(message, output.items)
      return events.take()
    },
  }
}

/** How a response ended. */
interface Finish {
  readonly status: 'completed' | 'incomplete'
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter'
}

/** Reads a finish reason of chat-completions. */
export function readFinish(reason: unknown): Finish {
  if (reason === 'length') return { status: 'incomplete', incompleteReason: 'max_output_tokens' }
  if (reason === 'content_filter') return { status: 'incomplete', incompleteReason: reason }
  return { status: 'completed' }
}

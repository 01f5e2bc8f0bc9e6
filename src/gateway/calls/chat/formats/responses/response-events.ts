/** The numbered events of a streamed response as text, with those that open and end it. */
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Emit } from './input-items.ts'
import {
  repeatedOf,
  responseIdOf,
  writeRepeated,
  writeResponse,
  type ResponseEnd,
  type ResponseHead,
} from './response-head.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import type { Refusal } from '../../../refusal.ts'
import type { Charged } from '../../chat-format.ts'
import { createResponseOutput, type OutputOptions } from './response-output.ts'

export interface ResponseEvents {
  /** Adds an event; `fields` has at least one. */
  readonly emit: Emit
  /** Returns the text of the next event, which `openEvent` wrote. */
  number(opened: string): string
  /** Adds the events that open the response, if no event was added before. */
  begin(): void
  /** Begins the end: if the charge cannot be stored, the events from here on are not sent, and `fail` takes their place. */
  beginEnd(): void
  /** Adds the last event. */
  end(end: ResponseEnd): void
  /** Adds the end of a response that breaks off with this output. */
  fail(message: string, output: readonly JsonObject[]): void
  /** Returns the added events, and forgets them. */
  take(): string
}

export function createResponseEvents(head: ResponseHead): ResponseEvents {
  let added = ''
  let sequence = 0
  /** The number of events before `beginEnd`. */
  let sent: number | undefined

  const number = (opened: string): string => `${opened}${sequence++}}\n\n`

  function respond(end: ResponseEnd, ...types: readonly string[]): void {
    const fields = `"response":${writeResponse(head, end)}`
    for (const type of types) added += number(openWritten(type, fields))
  }

  function begin(): void {
    if (sequence > 0) return
    respond({ status: 'in_progress', output: [] }, 'response.created', 'response.in_progress')
  }

  return {
    emit: (type, fields) => void (added += number(openEvent(type, fields))),
    number,
    begin,
    beginEnd() {
      begin()
      sent = sequence
    },
    end: (end) => respond(end, `response.${end.status}`),
    fail(message, output) {
      begin()
      sequence = sent ?? sequence
      respond(
        { status: 'failed', output, error: { code: 'server_error', message } },
        'response.failed',
      )
    },
    take() {
      const text = added
      added = ''
      return text
    },
  }
}

/** An event up to its number, which stands last: all before it can be kept for the next one. */
export function openEvent(type: string, fields: JsonObject): string {
  return openWritten(type, JSON.stringify(fields).slice(1, -1))
}

function openWritten(type: string, fields: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${fields},"sequence_number":`
}

/** Writes the events of a streamed response, from the chunks of a stream in the chat-completions shape. */
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

/** The events of a response that was only prepared: it has no output, and another request continues it. */
export function preparedResponse(idTail: string, modelId: string): string {
  const repeatedText = writeRepeated(repeatedOf({}, []))
  const createdAt = Math.floor(Date.now() / 1000)
  const events = createResponseEvents({
    id: responseIdOf(idTail),
    createdAt,
    modelId,
    repeatedText,
  })
  events.begin()
  events.end({ status: 'completed', output: [], charged: NOTHING })
  return events.take()
}

const NOTHING: Charged = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
  billedNanoBrl: 0n,
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

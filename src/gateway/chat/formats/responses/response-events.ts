/** The numbered events of a streamed response as text, with those that open and end it. */
import type { JsonObject } from '../../../../providers/contract.ts'
import type { Emit } from './item-list.ts'
import { writeResponse, type ResponseEnd, type ResponseHead } from './response-head.ts'

export interface ResponseEvents {
  /** Adds an event; `fields` has at least one. */
  readonly emit: Emit
  /** Returns the text of the next event; `fields` are those that `writeFields` wrote. */
  write(type: string, fields: string): string
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

  function write(type: string, fields: string): string {
    const text = `event: ${type}\ndata: {"type":"${type}","sequence_number":${sequence}${fields}`
    sequence += 1
    return text
  }

  function respond(end: ResponseEnd, ...types: readonly string[]): void {
    const fields = `,"response":${writeResponse(head, end)}}\n\n`
    for (const type of types) added += write(type, fields)
  }

  function begin(): void {
    if (sequence > 0) return
    respond({ status: 'in_progress', output: [] }, 'response.created', 'response.in_progress')
  }

  return {
    emit: (type, fields) => void (added += write(type, writeFields(fields))),
    write,
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

/** The fields of an event after its number, to the end of the event. */
export function writeFields(fields: JsonObject): string {
  return `,${JSON.stringify(fields).slice(1)}\n\n`
}

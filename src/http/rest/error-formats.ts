/** The formats in which the model calls answer errors, as the client libraries of each API read them. */
import Type, { type TSchema } from 'typebox'
import { geminiErrorBody } from '../../gateway/calls/chat/formats/gemini/gemini-format.ts'
import { messagesErrorBody } from '../../gateway/calls/chat/formats/messages/messages-format.ts'
import { refusalBody, type Refusal } from '../../gateway/calls/refusal.ts'

export interface ErrorFormat {
  readonly bodyOf: (refused: Refusal, requestId: string) => string
  /** The refusal in a stream that had to be opened before it was known. */
  readonly eventOf: (refused: Refusal) => string
  readonly schema: TSchema
  /** How a stream is sent if not as server-sent events with comments. */
  readonly stream?: { readonly contentType?: string; readonly keepAlive: string }
}

export const chatErrors: ErrorFormat = {
  bodyOf: refusalBody,
  eventOf: (refused) => `data: ${refusalBody(refused)}\n\n`,
  schema: Type.Object({
    error: Type.Object({
      message: Type.String(),
      type: Type.String(),
      code: Type.String(),
      param: Type.Null(),
    }),
  }),
}

export const messagesErrors: ErrorFormat = {
  bodyOf: messagesErrorBody,
  eventOf: (refused) => `event: error\ndata: ${messagesErrorBody(refused)}\n\n`,
  schema: Type.Object({
    type: Type.Literal('error'),
    error: Type.Object({ type: Type.String(), message: Type.String(), code: Type.String() }),
    request_id: Type.String(),
  }),
}

export const responsesErrors: ErrorFormat = {
  ...chatErrors,
  eventOf({ code, message }) {
    const event = { type: 'error', sequence_number: 0, code, message, param: null }
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`
  },
}

/** Google's clients take a comment for a part of the event that follows it, and white space for nothing. */
const geminiErrors: ErrorFormat = {
  bodyOf: (refused) => geminiErrorBody(refused),
  eventOf: (refused) => `data: ${geminiErrorBody(refused)}\n\n`,
  schema: Type.Object({
    error: Type.Object({
      code: Type.Integer(),
      message: Type.String(),
      status: Type.String(),
      details: Type.Array(Type.Object({ '@type': Type.String() }, { additionalProperties: true })),
    }),
  }),
  stream: { keepAlive: '\n' },
}

/** A stream that is one list of JSON. */
const geminiListErrors: ErrorFormat = {
  ...geminiErrors,
  eventOf: (refused) => `[${geminiErrorBody(refused)}]`,
  stream: { keepAlive: '\n', contentType: 'application/json; charset=utf-8' },
}

/** Where `clientPath` sends requests for such a stream. */
export const GEMINI_LIST_PATH = '/v1beta/streamGenerateContent/list'
const GEMINI_PATH = /^\/v1beta(\/|$|\?)/
const RESPONSES_PATH = /^\/v1\/responses(\/|$|\?)/
const VIDEOS_PATH = /^\/v1\/videos(\/|$|\?)/
const MESSAGES_PATH = /^\/v1\/messages(\/|$|\?)/
const MESSAGE_BATCHES_PATH = /^\/v1\/messages\/batches(\/|$|\?)/
/** `/v1/files/images` is for browsers. */
const BATCHES_PATH = /^\/v1\/(?:batches|files(?!\/images\/))(\/|$|\?)/

/**
 * Returns the format of errors of REST routes that client libraries of models call; undefined for the other routes,
 * which use the REST format.
 */
export function clientErrorsOf(path: string): ErrorFormat | undefined {
  if (GEMINI_PATH.test(path)) return geminiErrors
  if (MESSAGE_BATCHES_PATH.test(path)) return messagesErrors
  if (BATCHES_PATH.test(path)) return chatErrors
  if (VIDEOS_PATH.test(path)) return chatErrors
  return RESPONSES_PATH.test(path) ? responsesErrors : undefined
}

/** Returns the format of errors of a model call's path. */
export function errorFormatOf(path: string): ErrorFormat {
  if (path === GEMINI_LIST_PATH) return geminiListErrors
  if (GEMINI_PATH.test(path)) return geminiErrors
  if (RESPONSES_PATH.test(path)) return responsesErrors
  return MESSAGES_PATH.test(path) ? messagesErrors : chatErrors
}

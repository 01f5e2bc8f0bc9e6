/**
 * The facts that the fixture server needs about each provider's wire format. A new provider is a folder and
 * an entry.
 */
import { isObject } from '../../src/platform/lib/is-object.ts'
import { eventFrame, exceptionFrame } from './event-stream.ts'

export interface ProviderFormat {
  /** The folder of its fixtures; two formats may share one. */
  readonly name: string
  matches(path: string): boolean
  isStream(path: string, body: unknown): boolean
  /** True when the request brings the results of tools, so that the final answer is due. */
  hasToolResults(body: unknown): boolean
  readonly streamFile: string
  readonly streamType: string
  /** The bytes of each event in a stream's file. */
  splitEvents(file: Buffer): Buffer[]
  /** The events that the provider sends when it fails after its 200. */
  readonly errorEvent: Buffer
}

export const PROVIDER_FORMATS: readonly ProviderFormat[] = [
  {
    ...sse('openai', { error: { message: 'The server had an error', type: 'server_error' } }),
    matches: (path) => path === '/openai/v1/chat/completions',
    isStream: (_path, body) => isObject(body) && body.stream === true,
    hasToolResults: (body) => JSON.stringify(body).includes('"role":"tool"'),
  },
  {
    ...sse('anthropic', {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    }),
    matches: (path) => path === '/anthropic/v1/messages',
    isStream: (_path, body) => isObject(body) && body.stream === true,
    hasToolResults: (body) => JSON.stringify(body).includes('"tool_result"'),
  },
  {
    ...sse('google', {
      error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
    }),
    matches: (path) =>
      /^\/google\/v1beta\/models\/[^/]+:(generateContent|streamGenerateContent\?alt=sse)$/.test(
        path,
      ),
    isStream: (path) => path.includes(':streamGenerateContent'),
    hasToolResults: (body) => JSON.stringify(body).includes('"functionResponse"'),
  },
  {
    ...sse('google-vertex', {
      error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
    }),
    matches: (path) =>
      /^\/vertex\/v1\/projects\/own\/locations\/us-central1\/publishers\/google\/models\/[^/]+:(generateContent|streamGenerateContent\?alt=sse)$/.test(
        path,
      ),
    isStream: (path) => path.includes(':streamGenerateContent'),
    hasToolResults: (body) => JSON.stringify(body).includes('"functionResponse"'),
  },
  {
    ...sse('anthropic', {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
    }),
    matches: (path) =>
      /^\/vertex\/v1\/projects\/own\/locations\/us-central1\/publishers\/anthropic\/models\/[^/]+:(rawPredict|streamRawPredict)$/.test(
        path,
      ),
    isStream: (path) => path.endsWith(':streamRawPredict'),
    hasToolResults: (body) => JSON.stringify(body).includes('"tool_result"'),
  },
  {
    name: 'amazon-bedrock',
    matches: (path) => /^\/bedrock\/model\/[^/]+\/(converse|converse-stream)$/.test(path),
    isStream: (path) => path.endsWith('/converse-stream'),
    hasToolResults: (body) => JSON.stringify(body).includes('"toolResult"'),
    streamFile: 'jsonl',
    streamType: 'application/vnd.amazon.eventstream',
    splitEvents: (file) => file.toString('utf8').trim().split('\n').map(eventFrame),
    errorEvent: exceptionFrame('modelStreamErrorException', {
      message: 'The model failed.',
      originalStatusCode: 500,
      originalMessage: 'Internal error',
    }),
  },
  {
    ...sse('cohere', {
      type: 'message-end',
      delta: {
        error: 'The server had an error.',
        finish_reason: 'ERROR',
        usage: {
          billed_units: { input_tokens: 1200, output_tokens: 30 },
          tokens: { input_tokens: 1683, output_tokens: 30 },
        },
      },
    }),
    matches: (path) => path === '/cohere/v2/chat',
    isStream: (_path, body) => isObject(body) && body.stream === true,
    hasToolResults: (body) => JSON.stringify(body).includes('"role":"tool"'),
  },
]

interface ErrorEvent {
  readonly type?: string
  readonly error?: unknown
  readonly delta?: unknown
}

type SseFormat = Pick<
  ProviderFormat,
  'name' | 'streamFile' | 'streamType' | 'splitEvents' | 'errorEvent'
>

function sse(name: string, error: ErrorEvent): SseFormat {
  const line = error.type === undefined ? '' : `event: ${error.type}\n`
  return {
    name,
    streamFile: 'sse',
    streamType: 'text/event-stream; charset=utf-8',
    splitEvents: (file) =>
      file
        .toString('utf8')
        .split('\n\n')
        .filter((event) => event !== '')
        .map((event) => Buffer.from(`${event}\n\n`)),
    errorEvent: Buffer.from(`${line}data: ${JSON.stringify(error)}\n\n`),
  }
}

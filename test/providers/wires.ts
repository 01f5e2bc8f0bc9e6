/** What the fixture server must know of each provider's wire. A new provider is a folder and an entry. */
import { isObject } from '../../src/lib/is-object.ts'

export interface Wire {
  /** The folder of its fixtures. */
  readonly name: string
  matches(path: string): boolean
  isStream(path: string, body: unknown): boolean
  /** True where the request brings the results of tools, and the final answer is due. */
  hasToolResults(body: unknown): boolean
  readonly streamFile: string
  readonly streamType: string
  /** The bytes of each event of a stream's file. */
  splitEvents(file: Buffer): Buffer[]
  /** What the provider sends where it fails after its 200. */
  readonly errorEvent: Buffer
}

export const WIRES: readonly Wire[] = [
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
]

type SseWire = Pick<Wire, 'name' | 'streamFile' | 'streamType' | 'splitEvents' | 'errorEvent'>

function sse(name: string, error: { type?: string; error: unknown }): SseWire {
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

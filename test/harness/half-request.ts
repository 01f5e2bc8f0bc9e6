import { Agent, request, type IncomingMessage } from 'node:http'
import type { Asked } from './ask.ts'
import { randomUUID } from 'node:crypto'

/** A request whose body is sent by hand, or never to its end. */
export interface HalfRequest {
  /** Sends a part of the body; resolves when the operating system has it. */
  send(part: Buffer | string): Promise<void>
  end(): void
  /** The answer, which may come before the end of the body. Rejects if the connection ends without one. */
  readonly answer: Promise<Asked>
  /** Ends the connection. */
  leave(): void
}

export function beginRequest(
  baseUrl: string,
  path: string,
  options: {
    readonly secret?: string | undefined
    readonly method?: string
    /** The declared size of the body; undefined: it is sent in chunks without one. */
    readonly bytes?: number | undefined
  } = {},
): HalfRequest {
  const { secret, method = 'POST', bytes } = options
  const requestId = randomUUID()
  const askedAtMs = Date.now()
  const sent = request(`${baseUrl}${path}`, {
    method,
    agent: new Agent({ keepAlive: false }),
    headers: {
      'content-type': 'application/json',
      'x-svc-request-id': requestId,
      ...(secret === undefined ? {} : { authorization: `Bearer ${secret}` }),
      ...(bytes === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': bytes }),
    },
  })
  const answer = new Promise<Asked>((resolve, reject) => {
    sent.once('error', reject)
    sent.once('response', (response) => {
      readAnswer(response).then(
        (read) => resolve({ ...read, requestId, askedAtMs }),
        (error: unknown) => reject(error as Error),
      )
    })
  })
  // Some tests leave without an answer.
  answer.catch(() => {})
  sent.flushHeaders()
  return {
    send: (part) => new Promise((resolve) => sent.write(part, () => resolve())),
    end: () => void sent.end(),
    answer,
    leave: () => void sent.destroy(),
  }
}

async function readAnswer(response: IncomingMessage) {
  let text = ''
  for await (const part of response.setEncoding('utf8')) text += String(part)
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.headers)) headers.set(name, String(value))
  const json: unknown = text.startsWith('{') ? JSON.parse(text) : undefined
  return { status: response.statusCode ?? 0, headers, text, json }
}

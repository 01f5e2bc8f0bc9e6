/** A server on this machine that plays the upstream, and the adapter that calls it. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Provider } from '../../src/gateway/providers/contract.ts'
import {
  createOpenAiCompatible,
  type OpenAiCompatibleOptions,
} from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'

export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** Gets the request before its body is read. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

export interface OpenAiUpstream {
  readonly origin: string
  readonly provider: Required<Provider>
  /** Whole requests, in their order, of answers that read them. */
  readonly asked: Asked[]
  /** From now on. */
  answerWith(answer: Answer): void
  /** Reads the request first. */
  answerJson(body: unknown, status?: number, headers?: Record<string, string>): void
  /** Another adapter to the same server; closed with it. */
  open(more: Partial<OpenAiCompatibleOptions>): Required<Provider>
  close(): Promise<void>
}

export async function startOpenAiUpstream(): Promise<OpenAiUpstream> {
  const asked: Asked[] = []
  const opened: Provider[] = []
  let answer: Answer = (_request, response) => response.writeHead(500).end()
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  function open(more: Partial<OpenAiCompatibleOptions>): Required<Provider> {
    const provider = createOpenAiCompatible({
      baseUrl: `${origin}/v1`,
      apiKey: 'sk-test',
      cancelStopsBilling: true,
      maxTokensField: 'max_tokens',
      connectTimeoutMs: 2_000,
      firstByteTimeoutMs: 10_000,
      idleTimeoutMs: 10_000,
      connectionsMax: 4,
      ...more,
    })
    opened.push(provider)
    return provider as Required<Provider>
  }

  async function keep(request: IncomingMessage): Promise<void> {
    const { method = '', url = '', headers } = request
    asked.push({ method, url, headers, body: await buffer(request) })
  }

  return {
    origin,
    provider: open({}),
    asked,
    answerWith(next) {
      answer = next
    },
    answerJson(body, status = 200, headers = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      answer = async (request, response) => {
        await keep(request)
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
      }
    },
    open,
    async close() {
      await Promise.all(opened.map((provider) => provider.close()))
      server.closeAllConnections()
      server.close()
    },
  }
}

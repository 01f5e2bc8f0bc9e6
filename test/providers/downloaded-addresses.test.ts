// deep: an attack
/**
 * Addresses of a chat that the gateway opens itself, over every adapter: none leads into a private network, whatever a
 * name resolves to, and no package opens one on its own. Which addresses a request may have at all:
 * `test/http/given-addresses.test.ts`.
 */
import assert from 'node:assert/strict'
import dns from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import type { JsonObject, Provider } from '../../src/gateway/providers/contract.ts'
import { DocumentRefused } from '../../src/gateway/providers/download-file.ts'
import {
  createDownloadDocument,
  inlineDocuments,
} from '../../src/gateway/providers/inline-documents.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { RESOLVED_TO_PRIVATE } from '../harness/hostile-addresses.ts'
import { startScriptedServer } from './scripted-server.ts'
import { AI_SDK_PROVIDERS, LIMITS, complete } from './test-provider.ts'

const NAME = 'rebind.example.com'
const { Resolver } = dns
let resolved: readonly string[] = []
let asked: string[] = []
let connections = 0
const inside = createServer((_request, response) => response.end('a secret'))
inside.on('connection', () => (connections += 1))
let port: number

before(async () => {
  class Scripted {
    resolve4 = async (name: string): Promise<string[]> => {
      asked.push(name)
      return resolved.filter((address) => !address.includes(':'))
    }
    resolve6 = async (): Promise<string[]> => resolved.filter((address) => address.includes(':'))
    cancel(): void {}
  }
  dns.Resolver = Scripted as unknown as typeof Resolver
  syncBuiltinESMExports()
  inside.listen(0, '::')
  await once(inside, 'listening')
  port = (inside.address() as AddressInfo).port
})
after(() => {
  dns.Resolver = Resolver
  syncBuiltinESMExports()
  inside.closeAllConnections()
  inside.close()
})
beforeEach(() => {
  connections = 0
  asked = []
})

interface Opened {
  readonly name: string
  readonly model: string
  /** Otherwise the provider opens addresses of images, in its own network. */
  readonly downloads: boolean
  open(url: string): Provider
}

const PROVIDERS: readonly Opened[] = [
  ...[true, false].map((opensAddresses) => ({
    name: `openai-compatible${opensAddresses ? ' that opens addresses' : ''}`,
    model: 'any',
    downloads: !opensAddresses,
    open: (url: string): Provider =>
      createOpenAiCompatible({
        baseUrl: `${url}/v1`,
        apiKey: undefined,
        maxTokensField: 'max_tokens',
        opensAddresses,
        ...LIMITS,
      }),
  })),
  ...AI_SDK_PROVIDERS.map((target) => ({
    name: target.name,
    model: target.model,
    downloads: target.name !== 'anthropic' && target.name !== 'cohere',
    open: (url: string): Provider => target.open(url),
  })),
]

const imageAt = (url: string): JsonObject => ({ type: 'image_url', image_url: { url } })
const PLACES: Readonly<Record<string, (url: string) => JsonObject[]>> = {
  'a question': (url) => [{ role: 'user', content: [imageAt(url)] }],
  'the result of a tool': (url) => [
    { role: 'user', content: 'Oi' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: [imageAt(url)] },
  ],
}

for (const opened of PROVIDERS) {
  const { name, model, downloads } = opened
  for (const [place, messagesOf] of Object.entries(PLACES))
    test(`${name}: nothing in ${place} is fetched from a private network`, async () => {
      const upstream = await startScriptedServer((_received, response) =>
        response.writeHead(500, { 'content-type': 'application/json' }).end('{}'),
      )
      const provider = opened.open(upstream.url)
      const send = (url: string): Promise<unknown> => {
        const body = { model, messages: messagesOf(url) }
        return complete(provider, { body, hasImageAddresses: true })
      }
      try {
        for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])
          await send(`http://${host}:${port}/image.png`)
        assert.deepEqual(asked, [], 'what is private as it stands is not resolved')
        for (const addresses of RESOLVED_TO_PRIVATE) {
          resolved = addresses
          await send(`http://${NAME}:${port}/image.png`)
        }
        assert.equal(connections, 0)
        if (!downloads) return
        assert.deepEqual(new Set(asked), new Set([NAME]))
        assert.ok(upstream.received.every(({ text }) => !text.includes(NAME)))
      } finally {
        await provider.close()
        await upstream.close()
      }
    })
}

test('no document is fetched from a private network', async () => {
  const send = (url: string): Promise<unknown> => {
    const content = [{ type: 'file', file: { file_data: url } }]
    const body = { messages: [{ role: 'user', content }] }
    const { signal } = new AbortController()
    return inlineDocuments(
      body,
      createDownloadDocument(signal, () => true),
    )
  }
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', 'localhost'])
    await assert.rejects(send(`http://${host}:${port}/a.pdf`), DocumentRefused)
  assert.deepEqual(asked, [], 'what is private as it stands is not resolved')
  for (const addresses of RESOLVED_TO_PRIVATE) {
    resolved = addresses
    await assert.rejects(send(`http://${NAME}/a.pdf`), DocumentRefused)
  }
  assert.deepEqual(new Set(asked), new Set([NAME]))
  assert.equal(connections, 0)
})

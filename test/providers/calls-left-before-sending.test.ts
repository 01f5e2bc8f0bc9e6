// deep: an attack
/** Calls that their client leaves before an upstream got them: nobody owes their prompt. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Provider, UpstreamFailure } from '../../src/gateway/providers/contract.ts'
import { createOpenAiCompatible } from '../../src/gateway/providers/openai-compatible/create-openai-compatible.ts'
import { contentOf, openAiSdk } from './test-provider.ts'

const LIMITS = {
  cancelStopsBilling: true,
  connectTimeoutMs: 10_000,
  firstByteTimeoutMs: 10_000,
  idleTimeoutMs: 10_000,
  connectionsMax: 1,
}

/** Answers nothing. Resolves `asked()` with the next request that arrives. */
async function openSilentServer(context: TestContext) {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, asked: () => once(server, 'request') }
}

function send(provider: Provider, content: unknown, signal: AbortSignal) {
  const body = { model: 'any-model', stream: true, messages: [{ role: 'user', content }] }
  const hasImageAddresses = typeof content !== 'string'
  return provider.completeChat?.(
    { ...contentOf(body), hasImageAddresses, callId: 'call-1' },
    signal,
  ) as Promise<UpstreamFailure>
}

const imageAt = (url: string) => [{ type: 'image_url', image_url: { url: `${url}/a.png` } }]

function assertUnsent({ reason, isUnsent }: UpstreamFailure): void {
  assert.deepEqual({ reason, isUnsent }, { reason: 'aborted', isUnsent: true })
}

test('openai-compatible: a call that is left while its image is downloaded was not sent', async (context) => {
  const provider = createOpenAiCompatible({
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: undefined,
    maxTokensField: 'max_tokens',
    opensAddresses: false,
    ...LIMITS,
  })
  context.after(() => provider.close())
  const leaving = new AbortController()
  const outcome = send(provider, imageAt('https://imagens.exemplo.com.br'), leaving.signal)
  leaving.abort()
  assertUnsent(await outcome)
})

test('google: a call that is left while its image is downloaded was not sent', async (context) => {
  const images = await openSilentServer(context)
  const provider = openAiSdk('google', {
    baseUrl: 'http://127.0.0.1:9/v1',
    apiKey: 'own',
    allowPrivateDownloads: true,
    ...LIMITS,
  })
  context.after(() => provider.close())
  const leaving = new AbortController()
  const downloading = images.asked()
  const outcome = send(provider, imageAt(images.url), leaving.signal)
  await downloading
  leaving.abort()
  assertUnsent(await outcome)
})

test('anthropic: a call that is left while it waits for a connection was not sent, and the one before it was', async (context) => {
  const upstream = await openSilentServer(context)
  const provider = openAiSdk('anthropic', { baseUrl: upstream.url, apiKey: 'own', ...LIMITS })
  context.after(() => provider.close())
  const first = new AbortController()
  const arrived = upstream.asked()
  const sent = send(provider, 'Oi', first.signal)
  await arrived
  const second = new AbortController()
  const waiting = send(provider, 'Oi', second.signal)
  // Until it is queued behind the first one; before that it is unsent as well.
  for (let turn = 0; turn < 50; turn += 1) await nextTurn()
  second.abort()
  assertUnsent(await waiting)
  first.abort()
  const { reason, isUnsent } = await sent
  assert.deepEqual({ reason, isUnsent }, { reason: 'aborted', isUnsent: undefined })
})

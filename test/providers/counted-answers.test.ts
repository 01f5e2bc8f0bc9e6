/** The answers that packages read are counted before they are kept in memory: the upstream may be hostile. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type {
  Provider,
  StreamBroken,
  UpstreamFailure,
} from '../../src/gateway/providers/contract.ts'
import type { TakeBytes } from '../../src/platform/admission/share.ts'
import { startScriptedServer, type ScriptedServer } from './scripted-server.ts'
import { openAiSdk } from './test-provider.ts'

const MB = 1024 * 1024
const NO_ROOM: UpstreamFailure = {
  kind: 'failure',
  reason: 'no_room',
  detail: 'the answer does not fit into the memory',
  // The upstream has worked.
  isFinal: true,
}

let server: ScriptedServer
let body: Buffer = Buffer.alloc(0)
let status = 200
let provider: Provider

before(async () => {
  server = await startScriptedServer((_received, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body),
  )
  provider = openAiSdk('google', { baseUrl: server.url, apiKey: 'own' })
})

after(async () => {
  await provider.close()
  await server.close()
})

const { signal } = new AbortController()
const chat = (takeBytes: TakeBytes, isStream = false) =>
  (provider.completeChat as NonNullable<Provider['completeChat']>)(
    {
      model: 'gemini-3-pro-preview',
      body: { model: 'gemini-3-pro-preview', messages: [{ role: 'user', content: 'Oi' }] },
      isStream,
      outputTokensMax: 100,
      webSearches: undefined,
      callId: 'call',
      takeBytes,
    } as never,
    signal,
  )
async function stream(takeBytes: TakeBytes) {
  const outcome = await chat(takeBytes, true)
  if (outcome.kind !== 'stream') return outcome
  return outcome
    .each(() => undefined)
    .then(
      () => assert.fail('it ended well'),
      (error: StreamBroken) => error.failure,
    )
}
const embed = (takeBytes: TakeBytes) =>
  (provider.embed as NonNullable<Provider['embed']>)(
    {
      body: { model: 'gemini-embedding-001', input: ['a', 'b'] },
      inputs: ['a', 'b'],
      dimensions: undefined,
      callId: 'call',
      takeBytes,
    },
    signal,
  )
const draw = (takeBytes: TakeBytes) =>
  (provider.generateImages as NonNullable<Provider['generateImages']>)(
    {
      body: { model: 'gemini-2.5-flash-image', prompt: 'x' },
      prompt: 'x',
      count: 1,
      size: undefined,
      outputTokensMax: undefined,
      callId: 'call',
      takeBytes,
    },
    signal,
  )

/** In bytes, so that a large one is not converted again for each request. */
function answerOf(text: string): Buffer {
  const content = { role: 'model', parts: [{ text }] }
  return Buffer.from(JSON.stringify({ candidates: [{ content, finishReason: 'STOP' }] }))
}

test('a large plain answer is counted from its first 256 kB on, and waits for its room', async () => {
  status = 200
  body = answerOf('x'.repeat(MB))
  let taken = 0
  const answer = await chat((bytes) => {
    taken += bytes
    return setImmediate(true)
  })
  assert.equal(answer.kind, 'answer')
  assert.equal(taken, body.length - 256 * 1024)
})

/** Made once: to write sixteen megabytes takes longer than to send their beginning. */
const LARGE_ANSWER = answerOf('x'.repeat(16 * MB))
const LARGE_MESSAGE = `too many tokens ${'x'.repeat(16 * MB)}`
const LARGE_ERRORS = [400, 500].map((code) =>
  Buffer.from(
    JSON.stringify({ error: { message: LARGE_MESSAGE, status: 'INVALID_ARGUMENT', code } }),
  ),
)

const asks = [
  ['chat', (take: TakeBytes) => chat(take)],
  ['stream that is none', (take: TakeBytes) => stream(take)],
  ['embeddings', embed],
  ['image', draw],
] as const

for (const [name, ask] of asks)
  test(`${name}: a plain answer without room is cut while it arrives`, async () => {
    status = 200
    body = LARGE_ANSWER
    for (const refuse of [() => false, () => setImmediate(false)]) {
      let taken = 0
      const outcome = await ask((bytes) => {
        taken += bytes
        return taken < MB ? true : refuse()
      })
      assert.deepEqual(outcome, NO_ROOM)
      assert.ok(taken < 4 * MB, String(taken))
    }
  })

for (const [name, ask] of asks)
  for (const [refused, reason, error] of [
    [400, 'refused_request', LARGE_ERRORS[0]],
    [500, 'server_error', LARGE_ERRORS[1]],
  ] as const)
    test(`${name}: an error ${refused} is recognized by its beginning`, async () => {
      status = refused
      body = error as Buffer
      const outcome = await ask(() => assert.fail('an error is not counted'))
      assert.equal(outcome.kind === 'failure' && outcome.reason, reason)
    })

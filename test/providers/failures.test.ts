import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { after, afterEach, before, describe, test } from 'node:test'
import { StreamBroken } from '../../src/gateway/providers/contract.ts'
import { startFixtureServer, type Fault, type FixtureServer } from './fixture-server.ts'
import {
  AI_SDK_PROVIDERS,
  ask,
  complete,
  contentOf,
  type Outcome,
  type TestProvider,
} from './test-provider.ts'
import { WEATHER_THINKING } from './weather-conversation.ts'

let server: FixtureServer
before(async () => {
  server = await startFixtureServer()
})
afterEach(() => server.fail(undefined))
after(() => server.close())

async function meet(target: TestProvider, fault: Fault, isStream: boolean): Promise<Outcome> {
  server.fail(fault)
  const provider = target.open(server.url)
  const outcome = await complete(provider, { body: ask(target), isStream })
  await provider.close()
  return outcome
}

const STATUSES = [
  [400, 'refused_request'],
  [401, 'credentials_refused'],
  [403, 'credentials_refused'],
  [404, 'server_error'],
  [413, 'refused_request'],
  [429, 'rate_limited'],
  [500, 'server_error'],
  [529, 'server_error'],
] as const

// Each test waits most of a second for a timeout, so they run in parallel, each with its own server.
describe('a silent upstream fails with a timeout', { concurrency: true }, () => {
  for (const target of AI_SDK_PROVIDERS) {
    for (const isStream of [false, true]) {
      const manner = isStream ? 'streamed' : 'plain'
      for (const [kind, reason, name, limit] of [
        ['hang', 'first_byte_timeout', 'no answer in time', { firstByteTimeoutMs: 200 }],
        ['hang_middle', 'idle_timeout', 'an answer that stops', { idleTimeoutMs: 200 }],
      ] as const) {
        test(`${target.name}, ${manner}: ${name} is reported as ${reason}`, async () => {
          const silent = await startFixtureServer()
          silent.fail({ kind })
          const provider = target.open(silent.url, limit)
          const { failure } = await complete(provider, { body: ask(target), isStream })
          await provider.close()
          await silent.close()
          assert.equal(failure?.reason, reason)
        })
      }
    }
  }
})

for (const target of AI_SDK_PROVIDERS) {
  for (const isStream of [false, true]) {
    const manner = isStream ? 'streamed' : 'plain'

    for (const [status, reason] of STATUSES) {
      test(`${target.name}, ${manner}: ${status} is reported as ${reason}`, async () => {
        const body = '{"error":{"type":"api_error","message":"No: Ana Souza, 529.982.247-25"}}'
        const headers = { 'retry-after': '7' }
        const { failure, isBrokenStream } = await meet(
          target,
          { kind: 'status', status, body, headers },
          isStream,
        )
        assert.deepEqual(failure, {
          kind: 'failure',
          reason,
          status,
          retryAfterSeconds: 7,
          detail: `${status}: api_error`,
        })
        assert.equal(isBrokenStream, undefined)
      })
    }

    test(`${target.name}, ${manner}: a redirect is not followed`, async () => {
      const before = server.requests.length
      const headers = { location: `${server.url}/elsewhere` }
      const { failure } = await meet(
        target,
        { kind: 'status', status: 307, body: '', headers },
        isStream,
      )
      assert.equal(failure?.reason, 'server_error')
      assert.equal(failure?.status, 307)
      assert.equal(server.requests.length, before + 1)
    })

    test(`${target.name}, ${manner}: a connection that breaks is connection_lost`, async () => {
      const { failure } = await meet(target, { kind: 'cut_middle' }, isStream)
      assert.equal(failure?.reason, 'connection_lost')
    })

    test(`${target.name}, ${manner}: a closed port is connect_failed`, async () => {
      const closed = createServer().listen(0, '127.0.0.1')
      await once(closed, 'listening')
      const { port } = closed.address() as AddressInfo
      closed.close()
      await once(closed, 'close')
      const provider = target.open(`http://127.0.0.1:${port}`)
      const { failure } = await complete(provider, { body: ask(target), isStream })
      assert.equal(failure?.reason, 'connect_failed')
      await provider.close()
    })

    test(`${target.name}, ${manner}: an abort by the caller aborts the request upstream`, async () => {
      server.fail({ kind: 'hang' })
      const provider = target.open(server.url)
      const caller = new AbortController()
      const before = server.requests.length
      const pending = complete(provider, { body: ask(target), isStream }, caller.signal)
      while (server.requests.length === before)
        await new Promise((resolve) => setImmediate(resolve))
      caller.abort(new Error('the customer has left'))
      const { failure } = await pending
      assert.equal(failure?.reason, 'aborted')
      await server.requests[before]?.gone
      await provider.close()
    })
  }

  test(`${target.name}: truncated JSON is bad_answer`, async () => {
    const { failure } = await meet(target, { kind: 'end_middle' }, false)
    assert.equal(failure?.reason, 'bad_answer')
    assert.doesNotMatch(failure?.detail ?? '', /Recife/)
  })

  test(`${target.name}: a stream without its final event fails after the delivered chunks`, async () => {
    const { failure, turn, usage } = await meet(target, { kind: 'end_middle' }, true)
    assert.equal(failure?.reason, 'connection_lost')
    assert.equal(turn.message.reasoning_content, WEATHER_THINKING)
    assert.equal(usage, undefined)
  })

  test(`${target.name}: an error in the middle of a stream fails it after the delivered chunks`, async () => {
    const { failure, turn, isBrokenStream } = await meet(target, { kind: 'error_middle' }, true)
    assert.equal(isBrokenStream, true)
    assert.equal(turn.message.reasoning_content, WEATHER_THINKING)
    assert.deepEqual(failure, target.errorEvent)
  })

  test(`${target.name}: an error as the first event fails the stream before any chunk`, async () => {
    const { failure, bodies, isBrokenStream } = await meet(target, { kind: 'error_first' }, true)
    assert.equal(isBrokenStream, true)
    assert.deepEqual(bodies, [])
    assert.equal(failure?.reason, target.errorEvent.reason)
    assert.equal(failure?.status, target.errorEvent.status)
  })

  test(`${target.name}: cancelling a stream closes its connection`, async () => {
    server.fail({ kind: 'hang_middle' })
    const provider = target.open(server.url)
    const before = server.requests.length
    const stream = await provider.completeChat?.(
      { ...contentOf(ask(target)), isStream: true, callId: 'call-1' },
      new AbortController().signal,
    )
    assert.equal(stream?.kind, 'stream')
    let reads = 0
    await assert.rejects(
      stream.each(async () => {
        reads += 1
        if (reads > 1) return undefined
        stream.cancel()
        await server.requests[before]?.gone
        return undefined
      }),
      (error) => error instanceof StreamBroken && error.failure.reason === 'aborted',
    )
    await provider.close()
  })

  test(`${target.name}: a reader that stops in the middle closes the connection`, async () => {
    server.fail({ kind: 'hang_middle' })
    const provider = target.open(server.url)
    const before = server.requests.length
    const stream = await provider.completeChat?.(
      { ...contentOf(ask(target)), isStream: true, callId: 'call-1' },
      new AbortController().signal,
    )
    assert.equal(stream?.kind, 'stream')
    const counted = await stream.each((chunks) => {
      stream.cancel()
      return chunks.length
    })
    assert.equal(counted, 1)
    await server.requests[before]?.gone
    await provider.close()
  })
}

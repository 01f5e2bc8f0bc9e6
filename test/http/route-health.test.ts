// deep: an attack
/** A customer's own request never counts against the health of a route, which all customers share. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { JsonObject } from '../../src/gateway/providers/contract.ts'
import { startFixtureServer, type FixtureServer } from '../providers/fixture-server.ts'
import {
  AI_SDK_PROVIDERS,
  ANTHROPIC,
  BEDROCK,
  complete,
  GOOGLE,
  VERTEX,
} from '../providers/test-provider.ts'

let server: FixtureServer

before(async () => {
  server = await startFixtureServer()
})

after(() => server.close())

const question = { role: 'user', content: 'Oi' }
const DEPTH = 100_000

function withArguments(text: string): JsonObject {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: text } }
  return {
    messages: [
      question,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'a' },
    ],
  }
}

function withSchema(property: JsonObject): JsonObject {
  const schema = { type: 'object', properties: { a: property } }
  return {
    messages: [question],
    response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
  }
}

describe('a request that its adapter cannot write', () => {
  for (const target of AI_SDK_PROVIDERS) {
    test(`deeply nested arguments of a tool call: ${target.name}`, async () => {
      const provider = target.open(server.url)
      const body = withArguments('{"a":'.repeat(DEPTH) + '1' + '}'.repeat(DEPTH))
      const outcome = await complete(provider, { body: { model: target.model, ...body } })
      await provider.close()
      // Where the package can write it, it is sent.
      if (outcome.failure) assert.equal(outcome.failure.reason, 'unsupported')
    })
  }

  for (const target of [ANTHROPIC, GOOGLE, VERTEX, BEDROCK]) {
    test(`a malformed schema for the answer: ${target.name}`, async () => {
      const provider = target.open(server.url)
      const body = withSchema({ anyOf: 'text' })
      const outcome = await complete(provider, { body: { model: target.model, ...body } })
      await provider.close()
      assert.equal(outcome.failure?.reason, 'unsupported', outcome.failure?.detail)
    })
  }
})

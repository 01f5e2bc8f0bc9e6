/**
 * V8 gives an object that was made with getters a shape of its own, which keeps the getters, and all that they
 * can reach, until the whole heap is collected. Of what is made for every call that is the whole request.
 */
import assert from 'node:assert/strict'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { test } from 'node:test'
import { createRunningCalls } from '../../src/gateway/calls/running-calls.ts'
import { chatErrors } from '../../src/http/rest/error-formats.ts'
import { createHttpClient } from '../../src/http/model-calls/http-client.ts'

test('objects created for every call have no getters', () => {
  const reply = { raw: {}, hijack: () => undefined } as unknown as FastifyReply
  assertPlain(
    createHttpClient({} as FastifyRequest, reply, {
      publicUrl: undefined,
      errorFormat: chatErrors,
    }),
  )
  assertPlain(
    createRunningCalls().begin({ id: 'a hold', customerId: 'a customer', epoch: 0 }, false),
  )
})

function assertPlain(object: object): void {
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(object)))
    assert.ok('value' in descriptor, name)
}

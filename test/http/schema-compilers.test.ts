import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { loadConfig } from '../../src/app/config/config.ts'
import { addRoutes } from '../../src/http/rest/route.ts'
import { listRoutes } from '../../src/app/resources.ts'
import { ajvOptions, schemaController } from '../../src/http/server/schema-compilers.ts'

test('every schema of every route compiles, of the requests and of the answers', async () => {
  const config = loadConfig({ DATA_DIR: '.' }, '.')
  const server = Fastify({ ajv: ajvOptions })
  addRoutes(server, listRoutes(config), () => ({ handler: () => undefined }))
  await server.ready()
  await server.close()
})

test('a schema is compiled by the first request that it checks, and then kept', async () => {
  let isRead = 0
  const schema = {
    type: 'object',
    required: ['name'],
    properties: {
      get name() {
        isRead++
        return { type: 'string' }
      },
    },
  }
  const server = Fastify({ ajv: ajvOptions, schemaController })
  server.post('/', { schema: { body: schema } }, () => 'ok')
  await server.ready()
  const readByStart = isRead
  const ask = async (payload: object): Promise<number> =>
    (await server.inject({ method: 'POST', url: '/', payload })).statusCode
  assert.equal(await ask({ name: 'a' }), 200)
  const readByFirst = isRead
  assert.ok(readByFirst > readByStart)
  assert.equal(await ask({ name: 1 }), 400)
  assert.equal(isRead, readByFirst)
})

import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Route, addRoutes } from '../../http/rest/route.ts'
import { sendTaggedJson, tagJson, type TaggedJson } from '../../http/rest/send-tagged-json.ts'
import { schemaController } from '../../http/server/schema-compilers.ts'

export const openApiRoutes: readonly Route<unknown>[] = [
  {
    method: 'GET',
    url: '/v1/openapi.json',
    access: 'public',
    schema: { hide: true },
    handlersOf() {
      // The description does not change while the server runs, and takes long to write and compress.
      let written: TaggedJson | undefined
      return {
        handler(request, reply) {
          written ??= tagJson(request.server.swagger())
          reply.header('cache-control', 'public, max-age=300')
          return sendTaggedJson(request, reply, written)
        },
      }
    },
  },
]

/** Describes every route that is added after this call. */
export async function addOpenApi(server: FastifyInstance): Promise<void> {
  await server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Catraca',
        version: '1.0',
        description:
          'Modelos de IA com saldo pré-pago em reais. Chamadas de modelos seguem o formato chat-completions; erros delas têm a forma {error: {message, type, code}}, os demais {error, details?}. Todo POST que cria algo ou move dinheiro aceita o cabeçalho Idempotency-Key: se a resposta se perder, repita a requisição com a mesma chave, e nada acontece duas vezes.',
      },
      servers: [{ url: '/v1' }],
      components: {
        securitySchemes: {
          key: { type: 'http', scheme: 'bearer', description: 'sk-svc-…' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'catraca.session_token',
            description:
              'A sessão do painel; por HTTPS o nome começa com __Host-. Toda requisição que não é GET leva também o cabeçalho x-csrf-token, de GET /session.',
          },
        },
      },
    },
    transform({ schema, url }) {
      // The version is part of the base address.
      const path = url.replace(/^\/v1/, '') || '/'
      if (!path.endsWith('/*')) return { schema, url: path }
      // An id that may contain slashes is still an id.
      const params = { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }
      return { schema: { ...schema, params }, url: path.replace('*', ':id') }
    },
  })
}

/**
 * Returns the OpenAPI description of a list of routes, built without their dependencies and without a listening server.
 */
export async function describeApi(routes: readonly Route<never>[]): Promise<object> {
  const server = Fastify({ schemaController })
  await addOpenApi(server)
  addRoutes(server, routes, () => ({
    handler: () => undefined,
  }))
  await server.ready()
  try {
    return server.swagger()
  } finally {
    await server.close()
  }
}

import Fastify from 'fastify'
import { addRoutes, type Route } from '../../http/rest/route.ts'
import { schemaController } from '../../http/server/schema-compilers.ts'
import { addOpenApi } from './add-open-api.ts'

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

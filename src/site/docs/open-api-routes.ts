import type { Route } from '../../http/rest/route.ts'
import { sendTaggedJson, tagJson, type TaggedJson } from '../../http/rest/send-tagged-json.ts'

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

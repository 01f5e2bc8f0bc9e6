import { hiddenRoute } from '../rest/route.ts'
import { sendTaggedJson } from '../rest/send-tagged-json.ts'

export const openApiRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/v1/openapi.json',
    access: 'public',
    handle(request, reply) {
      reply.header('cache-control', 'public, max-age=300')
      return sendTaggedJson(request, reply, request.server.swagger())
    },
  }),
]

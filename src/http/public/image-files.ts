import type { FastifyInstance } from 'fastify'
import { findImage } from '../../images/generated-images.ts'
import type { HttpDeps } from '../http-deps.ts'
import { restError } from '../rest-error.ts'

/** Generated images, for whoever knows their address, until they expire. */
export function addImageFiles(server: FastifyInstance, deps: HttpDeps): void {
  server.get<{ Params: { id: string } }>(`${IMAGE_FILES}/:id`, async (request, reply) => {
    const image = await findImage(deps.db, request.params.id)
    if (!image) return restError(reply, 404, 'image_not_found')
    return reply
      .type(image.mediaType)
      .header('cache-control', 'private, max-age=3600, immutable')
      .header('x-content-type-options', 'nosniff')
      .send(image.bytes)
  })
}

/** Outside of the paths of model calls: a wrong one is answered in the REST format. */
export const IMAGE_FILES = '/v1/files/images'

import Type from 'typebox'
import { findImage } from '../../images/generated-images.ts'
import type { ImageDeps } from './image-deps.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

/** Outside the paths of model calls, so errors have the REST format. */
const PATH = '/files/images'
export const IMAGE_FILES = `/v1${PATH}`

/** Generated images, readable by anyone with their address until they expire. */
export const imageFileRoutes = [
  restRoute({
    method: 'GET',
    path: `${PATH}/:id`,
    tag: 'Modelos',
    summary: 'Uma imagem gerada, por uma hora',
    access: 'public',
    params: { id: Type.String() },
    answer: 'image/png',
    refusals: { 404: ['image_not_found'] },
    async handle({ params, reply }, deps: ImageDeps) {
      const image = await findImage(deps.db, params.id)
      if (!image) throw new RestRefusal(404, 'image_not_found')
      return reply
        .type(image.mediaType)
        .header('cache-control', 'private, max-age=3600, immutable')
        .header('x-content-type-options', 'nosniff')
        .send(image.bytes)
    },
  }),
]

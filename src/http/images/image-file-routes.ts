import { Readable } from 'node:stream'
import Type from 'typebox'
import { findImage } from '../../gateway/generated-images.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { clientNetworks } from '../../platform/lib/client-networks.ts'
import type { Share } from '../../platform/admission/share.ts'
import type { HttpParts } from '../rest/parts.ts'
import { whenClosed } from '../rest/leaving-client.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

/** The most downloads of images to one address at once. Each occupies less than a megabyte. */
export const IMAGE_DOWNLOADS_MAX = 20

type Deps = Pick<HttpParts, 'db'> & { readonly imageSlots: Share }

const RETRY_AFTER_SECONDS = 2

/** Outside the paths of model calls, so errors have the REST format. */
const PATH = '/files/images'
export const IMAGE_FILES = `/v1${PATH}`

/** The routes of generated images, which anyone with their address can read until they expire. */
export const imageFileRoutes = [
  restRoute({
    method: 'GET',
    path: `${PATH}/:id`,
    tag: 'Modelos',
    summary: 'Uma imagem gerada, por uma hora',
    access: 'public',
    params: { id: Type.String() },
    answer: 'image/png',
    refusals: { 404: ['image_not_found'], 429: ['too_many_downloads'] },
    async handle({ params, request, reply }, deps: Deps) {
      const held = deps.imageSlots.take(clientNetworks(plainIp(request.ip)).near)
      if (typeof held === 'string') {
        reply.header('retry-after', RETRY_AFTER_SECONDS)
        throw new RestRefusal(
          429,
          'too_many_downloads',
          `no máximo ${IMAGE_DOWNLOADS_MAX} ao mesmo tempo`,
        )
      }
      whenClosed(reply.raw, () => held[Symbol.dispose]())
      const image = await findImage(deps.db, params.id)
      if (!image) throw new RestRefusal(404, 'image_not_found')
      return reply
        .type(image.mediaType)
        .header('cache-control', 'private, max-age=3600, immutable')
        .header('x-content-type-options', 'nosniff')
        .header('content-length', image.size)
        .send(Readable.from(image.read()))
    },
  }),
]

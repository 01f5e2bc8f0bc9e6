import { isObject } from '../../../platform/lib/is-object.ts'
import { imageTypeOf } from '../../../platform/lib/media-signature.ts'
import type { JsonObject } from '../contract.ts'
import { DownloadRefused, type DownloadFile } from '../download-file.ts'
import { mapParts } from '../map-parts.ts'

/** The longest text before the base64 of an image: `data:image/jpeg;base64,` and some more. */
const PREFIX_BYTES_MAX = 32

/**
 * Replaces the addresses of images by the images, for upstreams that must not open addresses themselves: one in the
 * operator's network would reach what no customer may. Rejects with a `DownloadRefused`.
 */
export async function inlineImages(body: JsonObject, download: DownloadFile): Promise<JsonObject> {
  const inline = async (part: { image_url: JsonObject }, url: string): Promise<JsonObject> => ({
    ...part,
    image_url: { ...part.image_url, url: await inlined(download, url) },
  })
  return mapParts(body, (part) => {
    const url = addressOf(part)
    return url === undefined ? undefined : inline(part as { image_url: JsonObject }, url)
  })
}

/** Returns the most bytes by which the body grows, without the data of the images. */
export function inlinedGrowth(body: JsonObject): number {
  const parts = (body.messages as JsonObject[]).flatMap(({ content }) =>
    Array.isArray(content) ? (content as unknown[]) : [],
  )
  return parts.filter((part) => addressOf(part) !== undefined).length * PREFIX_BYTES_MAX
}

function addressOf(part: unknown): string | undefined {
  if (!isObject(part) || part.type !== 'image_url' || !isObject(part.image_url)) return undefined
  const { url } = part.image_url
  return typeof url === 'string' && !/^data:/i.test(url) ? url : undefined
}

async function inlined(download: DownloadFile, url: string): Promise<string> {
  const { body } = await download(url)
  // The hold covers an image, so nothing else is passed on.
  const type = imageTypeOf(body)
  if (type === undefined)
    throw new DownloadRefused('the address of an image does not lead to an image')
  return `data:${type};base64,${body.toString('base64')}`
}

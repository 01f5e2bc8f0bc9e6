import type { TokenCounts } from '../../../money/catalog/prices.ts'
import { jsonBrl, type NanoBrl } from '../../../platform/lib/money.ts'
import type { GeneratedImage, ImageAnswer } from '../../providers/contract.ts'
import { imageMediaType } from './image-media-type.ts'
import type { ImageRequest } from './image-request.ts'
import type { HeldCall } from '../call.ts'

/** Stores an image for a limited time; resolves to the path from which it can be fetched. */
export type KeepImage = (customerId: string, image: GeneratedImage) => Promise<string>

/** The JSON of an answer, with the images as base64 or as addresses on this server that work for a limited time. */
export async function writeImages(
  { key, request }: HeldCall<ImageRequest>,
  { images, usage }: ImageAnswer,
  charged: TokenCounts & { readonly billedNanoBrl: NanoBrl },
  keepImage: KeepImage,
  origin: string,
): Promise<string> {
  const addressOf = async (image: GeneratedImage): Promise<string> => {
    try {
      return origin + (await keepImage(key.customerId, image))
    } catch {
      // The customer has paid for the image, so if it cannot be stored its data becomes the address.
      return `data:${imageMediaType(image.base64)};base64,${image.base64}`
    }
  }
  const data = await Promise.all(
    images.map(async (image) => ({
      ...(request.wants === 'b64_json' ? {} : { url: await addressOf(image) }),
      ...(request.wants === 'url' ? {} : { b64_json: image.base64 }),
      ...(image.revisedPrompt === undefined ? {} : { revised_prompt: image.revisedPrompt }),
    })),
  )
  return JSON.stringify({
    created: Math.floor(Date.now() / 1000),
    data,
    ...(usage && {
      usage: {
        input_tokens: usage.promptTokens,
        output_tokens: usage.completionTokens,
        total_tokens: usage.promptTokens + usage.completionTokens,
      },
    }),
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  })
}

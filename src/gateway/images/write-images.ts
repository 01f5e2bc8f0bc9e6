import type { TokenCounts } from '../../catalog/prices.ts'
import { jsonBrl, type NanoBrl } from '../../lib/money.ts'
import type { GeneratedImage, ImageAnswer } from '../../providers/contract.ts'
import { imageMediaType } from './image-media-type.ts'
import type { ImageRequest } from './image-request.ts'
import type { HeldCall } from '../call.ts'

/** Keeps an image for a while; resolves to the path where it can be fetched. */
export type KeepImage = (customerId: string, image: GeneratedImage) => Promise<string>

/** The JSON of an answer: the images themselves, or addresses of ours where they wait for a while. */
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
      // It is paid for: rather a long address than none.
      return `data:${imageMediaType(image.base64)};base64,${image.base64}`
    }
  }
  const data = await Promise.all(
    images.map(async (image) => ({
      ...(request.wants === 'url' ? { url: await addressOf(image) } : { b64_json: image.base64 }),
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

/**
 * The images kind of call: images from a prompt, or from images and a prompt. The model's price decides whether tokens or
 * images are billed.
 */
import { imageUnit, type Model } from '../../../money/catalog/model.ts'
import type { Price, UnitCounts, TokenCounts } from '../../../money/catalog/prices.ts'
import { IMAGE_TOKENS_TYPICAL, outputTokensTypical } from '../../../money/catalog/quote.ts'
import type { Resolution } from '../../../money/ledger/resolution.ts'
import { beyond } from '../../../platform/admission/share.ts'
import { withLineEnds } from '../../../platform/lib/with-line-ends.ts'
import type { ImageAnswer, Provider, GeneratedImage } from '../../providers/contract.ts'
import { plainTokens } from '../../providers/plain-tokens.ts'
import { billedUsage, estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallBounds, CallKind } from '../call-kind.ts'
import type { HeldCall, Used } from '../call.ts'
import { chargeHeldCall } from '../charge.ts'
import { EVENT_STREAM } from '../client.ts'
import {
  imageMediaType,
  readImageEdit,
  readImageRequest,
  type ImageRequest,
} from './image-request.ts'
import { jsonBrl, type NanoBrl } from '../../../platform/lib/money.ts'
import { createTextShield, type ShieldRequest } from '../shield/text-shield.ts'

const shieldImageRequest: ShieldRequest<ImageRequest> = (request, options) => {
  const shield = createTextShield(options)
  const body = shield.readFields(request.body)
  return shield.outcome({ ...request, body, prompt: body.prompt as string })
}

/** Text output beside an image, if image tokens and text tokens have separate prices. */
const TEXT_TOKENS_MAX = 1_024
/** An image in base64; few are larger. */
const IMAGE_BYTES_TYPICAL = 4 * 1024 * 1024
/** Tokens that a model adds around the prompt, with a margin. */
const TEMPLATE_TOKENS = 64

export function createImageKind(
  keepImage: KeepImage,
  method: 'generateImages' | 'editImages' = 'generateImages',
): CallKind<Buffer, ImageRequest, ImageAnswer> {
  return {
    operation: 'generate_content',
    shieldRequest: shieldImageRequest,
    read: method === 'editImages' ? readImageEdit : readImageRequest,
    findFault: findModelFault,
    bound: boundImages,
    answerBytesMax: (_model, request) => bytesTypical(request),
    mayBeLarge: () => true,
    can: (provider) => provider[method] !== undefined,
    call: (provider, { held, upstreamModel, signal, takeBytes }) =>
      (provider[method] as NonNullable<Provider['generateImages']>)(
        {
          body: { ...held.request.body, ...pinnedOf(held), model: upstreamModel },
          prompt: held.request.prompt,
          files: held.request.files,
          count: held.request.count,
          size: held.request.size,
          outputTokensMax: outputTokensOf(held.model, held.request),
          callId: held.holdId,
          takeBytes: beyond(bytesTypical(held.request), takeBytes),
        },
        signal,
      ),
    async relay(held, { outcome }, answeredBy, client) {
      const by = answeredBy()
      const { wantsEvents } = held.request
      const used = usedBy(held, outcome, by.price)
      const resolution = chargeHeldCall(held, used, by)
      return {
        resolution,
        write: () =>
          wantsEvents
            ? writeEvents(held, outcome, resolution)
            : writeImages(held, outcome, resolution, keepImage, client.origin()),
        send: (text) =>
          client.answer(text, held.limits, wantsEvents ? { 'content-type': EVENT_STREAM } : {}),
      }
    },
  }
}

function bytesTypical({ count }: ImageRequest): number {
  return count * IMAGE_BYTES_TYPICAL
}

function findModelFault(model: Model, request: ImageRequest): string | undefined {
  const { id, category, image } = model
  if (category !== 'image' || !image)
    return `O modelo "${id}" não gera imagens; use o endpoint da categoria dele.`
  if (request.files.length > 0 && model.imageTokensMax === 0)
    return `O modelo "${id}" não edita imagens.`
  const { sizes } = image
  if (request.size !== undefined && sizes.length > 0 && !sizes.includes(request.size))
    return `O modelo "${id}" tem os tamanhos ${sizes.join(', ')}.`
  if (!isBilledByImage(model.price)) return undefined
  if (unitOf(model, model.price, request) === undefined)
    return `O modelo "${id}" não tem preço para este tamanho e esta qualidade.`
  const qualities = qualitiesOf(model.price)
  if (request.quality === undefined && qualities.length > 0 && !qualities.includes(STANDARD))
    return `O modelo "${id}" não tem preço para uma qualidade à escolha dele; informe "quality": ${qualities.join(', ')}.`
  return undefined
}

function boundImages(model: Model, request: ImageRequest): CallBounds {
  const text = request.prompt + textOf(request.body.negative_prompt)
  const bytes = Buffer.byteLength(request.files.length > 0 ? withLineEnds(text) : text)
  // Some upstreams generate each image in a separate call and bill the prompt each time.
  const textTokensMax = Math.min(bytes + TEMPLATE_TOKENS, model.contextTokens) * request.count
  const inputMax = inputTokensOf(model, request, model.imageTokensMax) * request.count
  const isApart = model.price.units?.input_image_tokens !== undefined
  const promptTokensMax = textTokensMax + (isApart ? 0 : inputMax)
  const promptTokensEstimated = Math.min(outputTokensTypical(bytes), textTokensMax)
  const tokens = isBilledByImage(model.price) ? 0 : tokensOfImage(model, request.quality)
  const isOfImages = hasImageTokens(model.price)
  const unitsMax: UnitCounts = {
    ...(isOfImages ? { output_image_tokens: tokens * request.count } : {}),
    ...(isApart && inputMax > 0 ? { input_image_tokens: inputMax } : {}),
    ...unitsOf(model, model.price, request, request.count),
  }
  return {
    promptTokensMax,
    promptTokensEstimated,
    outputTokensMax: isOfImages && tokens > 0 ? TEXT_TOKENS_MAX : tokens,
    choices: request.count,
    unitsMax,
    tokensCounted: promptTokensEstimated + inputTokensOf(model, request, IMAGE_TOKENS_TYPICAL),
    canLowerOutput: false,
  }
}

/** The tokens of the images that are sent, at so many for each that the model does not bound lower. */
function inputTokensOf(model: Model, { files }: ImageRequest, ofEach: number): number {
  return files.length * Math.min(ofEach, model.imageTokensMax)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? '')
}

/** The most output tokens of one image, including the text and reasoning beside it, which are billed as text. */
function outputTokensOf(model: Model, { quality }: ImageRequest): number | undefined {
  if (isBilledByImage(model.price)) return undefined
  return tokensOfImage(model, quality) + (hasImageTokens(model.price) ? TEXT_TOKENS_MAX : 0)
}

function hasImageTokens({ units }: Price): boolean {
  return units?.output_image_tokens !== undefined
}

/** The most tokens of one image in this quality; if the model chooses the quality, in the most expensive one. */
function tokensOfImage({ image, outputTokensMax }: Model, quality: string | undefined): number {
  const { tokensMax } = image ?? {}
  if (!tokensMax) return outputTokensMax
  return tokensMax[quality ?? ''] ?? Math.max(...Object.values(tokensMax))
}

function usedBy(held: HeldCall<ImageRequest>, outcome: ImageAnswer, price: Price): Used {
  const { model, request } = held
  const {
    usage,
    images: { length: count },
  } = outcome
  const images = unitsOf(model, price, request, count)
  const isByImage = isBilledByImage(price)
  // A picture has a token at least, or a price of its own.
  const least = {
    ...(isByImage ? {} : { promptTokens: 1, completionTokens: count }),
    ...(hasImageTokens(price) ? { imageOutputTokens: count } : {}),
  }
  const reported = possibleUsage(held, usage, least)
  if (reported || isByImage) {
    const { units, ...tokens } = billedUsage(model, price, reported ?? plainTokens(0, 0))
    return { counts: { ...tokens, units: { ...units, ...images } }, kind: 'exact', reason: null }
  }
  const completionTokens = tokensOfImage(model, request.quality) * count
  const imageInputTokens = inputTokensOf(model, request, IMAGE_TOKENS_TYPICAL)
  const tokens = plainTokens(held.promptTokensEstimated + imageInputTokens, completionTokens)
  return {
    counts: billedUsage(model, price, { ...tokens, imageInputTokens }),
    kind: 'estimated',
    reason: estimateReason(held, usage),
  }
}

function isBilledByImage({ units }: Price): boolean {
  return Object.keys(units ?? {}).some((unit) => unit.startsWith('images'))
}

function unitsOf(model: Model, price: Price, request: ImageRequest, count: number): UnitCounts {
  const unit = unitOf(model, price, request)
  return unit === undefined ? {} : { [unit]: count }
}

function unitOf({ image }: Model, price: Price, request: ImageRequest): string | undefined {
  const { size = image?.sizes[0] ?? '', quality = STANDARD } = request
  return imageUnit(price, size, quality)
}

/** The quality of an image for which the request names none. */
const STANDARD = 'standard'

/** The qualities that the price distinguishes. */
function qualitiesOf({ units }: Price): string[] {
  const named = Object.keys(units ?? {}).map((unit) => /^images:([a-z]+)/.exec(unit)?.[1])
  return [...new Set(named.filter((quality) => quality !== undefined))]
}

/** Returns the size and quality that are sent explicitly for images billed per image, because they decide the price. */
function pinnedOf({ model, request }: HeldCall<ImageRequest>): { size?: string; quality?: string } {
  if (!isBilledByImage(model.price)) return {}
  const size = request.size ?? model.image?.sizes[0]
  const quality = request.quality ?? (qualitiesOf(model.price).length > 0 ? STANDARD : undefined)
  return { ...(size === undefined ? {} : { size }), ...(quality === undefined ? {} : { quality }) }
}

/**
 * OpenAI's events: one for each image. The usage and the cost of the call are in the last one, so that a client that adds
 * them up has them once.
 */
function writeEvents(
  { request }: HeldCall<ImageRequest>,
  { images, usage }: ImageAnswer,
  charged: Resolution,
): string {
  const { body, files, size = 'auto', quality = 'auto' } = request
  const { input_image_tokens: ofImages = 0, output_image_tokens: output = 0 } = JSON.parse(
    charged.units ?? '{}',
  ) as Record<string, number>
  const input = charged.promptTokens + ofImages
  // A price without images of their own leaves them among the tokens of the prompt.
  const shown = Math.min(input, Math.max(ofImages, usage?.imageInputTokens ?? 0))
  const last = {
    usage: usageOf(input, shown, charged.completionTokens + output),
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  }
  return images
    .map((image, index) => {
      const event = {
        type: files.length > 0 ? 'image_edit.completed' : 'image_generation.completed',
        b64_json: image.base64,
        created_at: Math.floor(Date.now() / 1000),
        size,
        quality,
        background: body.background ?? 'auto',
        output_format: imageMediaType(image.base64).slice('image/'.length),
        ...(index === images.length - 1 ? last : { usage: usageOf(0, 0, 0) }),
      }
      return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    })
    .join('')
}

function usageOf(input: number, ofImages: number, output: number): object {
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { image_tokens: ofImages, text_tokens: input - ofImages },
  }
}

/** Stores an image for a limited time; resolves to the path from which it can be fetched. */
export type KeepImage = (customerId: string, image: GeneratedImage) => Promise<string>

/** The JSON of an answer, with the images as base64 or as addresses on this server that work for a limited time. */
async function writeImages(
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

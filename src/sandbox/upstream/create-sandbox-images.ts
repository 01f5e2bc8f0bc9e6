import { createRefuser, refuse, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody } from './deliver-stream.ts'
import { chooseColours, drawGradient } from './draw-gradient.ts'
import type { Exchange } from './open-exchange.ts'
import { BadRequest, missing } from './read-field.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import {
  readImageRequest,
  type ImageQuality,
  type ImageRequest,
  parseImageSize,
  type ImageSize,
} from './read-image-request.ts'
import { findSandboxModel, type SandboxModel } from './sandbox-models.ts'

export interface SandboxImages {
  /**
   * Throws `BadRequest`. Resolves when the answer is written or the client has left. The addresses of pictures begin
   * with `origin`.
   */
  generateImages(exchange: Exchange, text: string, origin: string): Promise<void>
  /** The same for a form with the images to edit, which are counted and not looked at. */
  editImages(exchange: Exchange, form: IncomingForm, origin: string): Promise<void>
}

export interface IncomingForm {
  readonly body: Buffer
  readonly contentType: string | undefined
}

interface ImageUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  readonly input_tokens_details: { readonly text_tokens: number; readonly image_tokens: number }
}

/** The counts of gpt-image-1 for a picture of 1024 x 1024. */
const OUTPUT_TOKENS: Record<ImageQuality, number> = { low: 272, medium: 1056, high: 4160 }
/** Of a picture to edit, of one tile. */
const INPUT_TOKENS = 194
/** Of Gemini's models, whatever the quality. */
const GEMINI_OUTPUT_TOKENS = 1290
const PIXELS_OF_OUTPUT_TOKENS = 1024 * 1024

export function createSandboxImages(openTokenizer: () => Promise<Tokenizer>): SandboxImages {
  const refuser = createRefuser()

  async function answer(
    exchange: Exchange,
    { text, edited }: { text: string; edited: number },
    origin: string,
  ): Promise<void> {
    const request = readImageRequest(text)
    const model = findSandboxModel(request.modelName)
    if (model.delivery === 'hang') return
    if (refuser.isRefused(model)) return refuse(exchange, model)

    const usage = describeImageUsage(request, edited, model, await openTokenizer())
    if (usage !== undefined) {
      exchange.reported = {
        promptTokens: usage.input_tokens,
        completionTokens: usage.output_tokens,
      }
    }
    const { quality, size } = request
    const body = JSON.stringify({
      created: Math.floor(Date.now() / 1000),
      background: 'opaque',
      data: await drawImages(request, origin),
      output_format: 'png',
      quality,
      size: `${size.width}x${size.height}`,
      usage,
    })
    const { pace, delivery } = model
    // A picture is sent at once, so only the pace's time to the first token applies.
    return deliverBody({ exchange, headers: PROVIDER_HEADERS, pace, delivery, body, tokens: 0 })
  }

  return {
    generateImages: (exchange, text, origin) => answer(exchange, { text, edited: 0 }, origin),
    editImages: async (exchange, form, origin) => answer(exchange, await readEdit(form), origin),
  }
}

/** The texts of the form as a JSON body, and the number of its images. Throws `BadRequest`. */
async function readEdit({ body, contentType = '' }: IncomingForm) {
  const headers = { 'content-type': contentType }
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => {
    throw new BadRequest('Could not parse multipart form', null, null)
  })
  const parts = [...form]
  const texts = parts.filter(([, value]) => typeof value === 'string')
  const edited = parts.length - texts.length
  if (!parts.some(([name]) => name.startsWith('image'))) throw missing('image')
  const { n = '1', ...fields } = Object.fromEntries(texts)
  return { text: JSON.stringify({ ...fields, n: Number(n) }), edited }
}

async function drawImages(request: ImageRequest, origin: string): Promise<object[]> {
  const { count, format, prompt, size } = request
  const images: object[] = []
  // In sequence: compressing ten large pictures at once would occupy the whole thread pool.
  for (let index = 0; index < count; index++) {
    const colours = chooseColours(prompt, index)
    if (format === 'url') images.push({ url: writeImageAddress(origin, { size, colours }) })
    else images.push({ b64_json: (await drawGradient(size, colours)).toString('base64') })
  }
  return images
}

/** The usage that the model reports, which some models falsify; undefined if it reports none. */
function describeImageUsage(
  { modelName, prompt, count, quality, size }: ImageRequest,
  edited: number,
  model: SandboxModel,
  tokenizer: Tokenizer,
): ImageUsage | undefined {
  if (model.usage === 'none') return undefined
  const textTokens = tokenizer.count(prompt)
  const imageTokens = edited * INPUT_TOKENS
  const inputTokens = textTokens + imageTokens
  const share = (size.width * size.height) / PIXELS_OF_OUTPUT_TOKENS
  const ofPicture = modelName.includes('gemini') ? GEMINI_OUTPUT_TOKENS : OUTPUT_TOKENS[quality]
  const trueTokens = count * Math.max(1, Math.round(ofPicture * share))
  const outputTokens = model.usage === 'overrun' ? trueTokens * 10 + 1000 : trueTokens
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
  }
}

export interface ImageAddress {
  readonly size: ImageSize
  readonly colours: string
}

/** The address contains all data to draw the picture again, so that none has to be stored. */
function writeImageAddress(origin: string, { size, colours }: ImageAddress): string {
  return `${origin}/images/${size.width}x${size.height}/${colours}.png`
}

/** Returns undefined if the path is not the address of a picture. */
export function readImageAddress(path: string): ImageAddress | undefined {
  const [, sides = '', colours = ''] = /^\/images\/(\w+)\/([0-9a-f]{24})\.png$/.exec(path) ?? []
  const size = parseImageSize(sides)
  return size && { size, colours }
}

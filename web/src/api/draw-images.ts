/** Draws images that are paid by one of the signed-in customer's keys. The images come as data, never as addresses. */
import { ApiError } from './api-error.ts'
import type { ChatCharge } from './chat-events.ts'
import type { Answer } from './client.ts'
import { postModelCall, type ModelCall } from './post-model-call.ts'
import { readJson } from './send.ts'

export interface ImageCall extends ModelCall {
  readonly body: { readonly model: string; readonly prompt: string }
}

export interface DrawnImages {
  /** Data URLs. */
  readonly images: readonly string[]
  readonly charge: ChatCharge
}

/** By the first characters of their base64: an image of any other type is not shown. */
const TYPES: readonly (readonly [string, string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['UklGR', 'image/webp'],
]

export async function drawImages(call: ImageCall): Promise<DrawnImages> {
  const answer = await postModelCall('/v1/images/generations', call, {
    ...call.body,
    response_format: 'b64_json',
  })
  const { data, usage, cost_billed_brl } = (await readJson(answer)) as Answer<
    'post',
    '/images/generations'
  >
  const images = data.flatMap(({ b64_json: base64 = '' }) => {
    const type = TYPES.find(([start]) => base64.startsWith(start))?.[1]
    return type === undefined ? [] : [`data:${type};base64,${base64}`]
  })
  if (images.length === 0) throw new ApiError(0, 'stream_broken')
  return {
    images,
    charge: {
      promptTokens: usage?.input_tokens ?? 0,
      completionTokens: usage?.output_tokens ?? 0,
      reasoningTokens: 0,
      costBrl: cost_billed_brl,
    },
  }
}

import type { JSONObject } from '@ai-sdk/provider'
import { RefusedRequest } from './refused-request.ts'

/** Options to spread into those of Google's packages; empty if the model chooses. */
export interface ImageConfig {
  readonly imageConfig?: JSONObject
}

const RATIOS = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const
/** The greatest factor by which the image's aspect ratio may differ from the requested one. */
const RATIO_DEVIATION_MAX = 1.05
const ORDINARY_SIDE_PIXELS = 1024

/**
 * Gemini supports fixed aspect ratios and some sizes instead of pixels. Selects the nearest of both; throws a
 * `RefusedRequest` if no aspect ratio is close enough.
 */
export function toImageConfig(size: string | undefined): ImageConfig {
  if (size === undefined) return {}
  const [width = 0, height = 0] = size.split('x').map(Number)
  const [nearest] = RATIOS.map((name) => ({
    name,
    deviation: deviationOf(name, width / height),
  })).toSorted((a, b) => a.deviation - b.deviation)
  if (!nearest || !(nearest.deviation <= Math.log(RATIO_DEVIATION_MAX))) {
    throw new RefusedRequest('this upstream has no images of this shape')
  }
  const imageSize = toImageSize(Math.sqrt(width * height))
  return {
    imageConfig: { aspectRatio: nearest.name, ...(imageSize === undefined ? {} : { imageSize }) },
  }
}

function deviationOf(name: string, ratio: number): number {
  const [width = 1, height = 1] = name.split(':').map(Number)
  return Math.abs(Math.log(ratio / (width / height)))
}

/** Undefined for the default size: the first of these models have no other, and refuse the option. */
function toImageSize(sidePixels: number): string | undefined {
  const doublings = Math.round(Math.log2(sidePixels / ORDINARY_SIDE_PIXELS))
  if (doublings === 0) return undefined
  if (doublings < 0) return '512'
  return doublings === 1 ? '2K' : '4K'
}

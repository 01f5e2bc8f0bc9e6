import { isObject } from '../../lib/is-object.ts'
import type { ReportedUsage } from '../contract.ts'
import { plainTokens } from '../plain-tokens.ts'
import { readCount } from './read-count.ts'

/**
 * Reads the `usage` object of an images answer. Undefined where it is missing or not to be believed.
 * Output that nobody took apart is images: the first models with usage told no details of it.
 */
export function readImageUsage(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const promptTokens = readCount(usage.input_tokens)
  const completionTokens = readCount(usage.output_tokens)
  if (promptTokens === undefined || completionTokens === undefined) return undefined

  const inputDetails = isObject(usage.input_tokens_details) ? usage.input_tokens_details : {}
  const outputDetails = isObject(usage.output_tokens_details) ? usage.output_tokens_details : {}
  const imageInput = readCount(inputDetails.image_tokens) ?? 0
  const imageOutput =
    readCount(outputDetails.image_tokens) ??
    completionTokens - Math.min(readCount(outputDetails.text_tokens) ?? 0, completionTokens)
  return {
    ...plainTokens(promptTokens, completionTokens),
    imageInputTokens: Math.min(imageInput, promptTokens),
    imageOutputTokens: Math.min(imageOutput, completionTokens),
  }
}

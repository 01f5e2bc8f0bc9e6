/** How rerankers, judges of content and voices bill texts. */
import { unknownFields } from './allow-lists.ts'
import { costOf, counts, type Bill } from './bill.ts'
import type { ModelTruth } from './model-truth.ts'

type Body = Record<string, unknown>

/** By the search, where a document of more than 500 tokens counts as several, or by the tokens that are read. */
export function billRerank(model: ModelTruth, body: Body): Bill {
  const { query, documents } = body as { query: string; documents: string[] }
  const chunkTokens = model.searchUnit === undefined ? model.context : 500
  const ofQuery = Math.min(Buffer.byteLength(query), chunkTokens / 2)
  const sizes = documents.map((text) => Buffer.byteLength(text))
  const chunks = sizes.map((size) => Math.max(1, Math.ceil(size / (chunkTokens - ofQuery))))
  const all = chunks.reduce((sum, each) => sum + each, 0)
  const of =
    model.searchUnit === undefined
      ? counts({ promptTokens: sizes.reduce((sum, size) => sum + size, 0) + all * (ofQuery + 4) })
      : counts({ searchUnits: Math.ceil(all / 100) })
  return {
    ...of,
    model,
    costPicoUsd: costOf(model, of),
    unknown: unknownFields('openai rerank', body),
  }
}

/** Each text and each image, with what an unknown field of a part may bring. */
export function billModeration(model: ModelTruth, body: Body): Bill {
  const parts = (body.input as (string | Body)[]).map((each) =>
    typeof each === 'string' ? { type: 'text', text: each } : each,
  )
  const sizes = parts.map(({ type, text }) =>
    type === 'text' ? Buffer.byteLength(text as string) + 4 : model.imageTokens,
  )
  const of = counts({
    promptTokens: sizes.reduce((sum, size) => sum + Math.min(size, model.context), 0),
  })
  const inParts = parts
    .flatMap((part) => Object.keys(part))
    .filter((field) => !['type', 'text', 'image_url'].includes(field))
  const unknown = [...unknownFields('openai moderations', body), ...inParts]
  return { ...of, model, costPicoUsd: costOf(model, of), unknown }
}

/** Half a second for each character and five of silence, at 20 tokens a second; instructions may ask for a slow voice. */
export function billSpeech(model: ModelTruth, body: Body): Bill {
  const { input, instructions, speed } = body as {
    input: string
    instructions?: string
    speed?: number
  }
  const characters = Array.from(input).length
  const slow = Math.min(speed ?? 1, 1) * (instructions ? 0.25 : 1)
  const spoken = Math.ceil(((characters * 0.5 + 5) / slow) * 20)
  const of =
    model.character === undefined
      ? counts({
          promptTokens: Buffer.byteLength(input) + Buffer.byteLength(instructions ?? '') + 20,
          completionTokens: Math.min(spoken, model.ownOutputMax),
        })
      : counts({ characters })
  return {
    ...of,
    model,
    costPicoUsd: costOf(model, of),
    unknown: unknownFields('openai speech', body),
  }
}

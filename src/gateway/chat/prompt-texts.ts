import type { JsonObject } from '../../providers/contract.ts'

/** The contents of messages: texts that stand in the request as they are, each once. */
export function promptTexts(messages: readonly JsonObject[]): string[] {
  const texts: string[] = []
  for (const { content } of messages) {
    if (typeof content === 'string') texts.push(content)
    if (!Array.isArray(content)) continue
    for (const part of content as JsonObject[])
      if (part.type === 'text' && typeof part.text === 'string') texts.push(part.text)
  }
  return texts
}

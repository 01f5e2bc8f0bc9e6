import type { JsonObject } from '../../providers/contract.ts'

/** The text contents of messages. The request body contains each of them exactly once and unchanged. */
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

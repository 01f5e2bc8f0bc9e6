import type { JsonObject } from './contract.ts'

/**
 * Returns a chat with some parts of its messages replaced, one after the other: `replace` returns undefined for a part
 * that stays.
 */
export async function mapParts(
  body: JsonObject,
  replace: (part: unknown) => Promise<unknown> | undefined,
): Promise<JsonObject> {
  const messages: unknown[] = []
  for (const message of body.messages as JsonObject[]) {
    if (!Array.isArray(message.content)) {
      messages.push(message)
      continue
    }
    const content: unknown[] = []
    for (const part of message.content as unknown[]) content.push((await replace(part)) ?? part)
    messages.push({ ...message, content })
  }
  return { ...body, messages }
}

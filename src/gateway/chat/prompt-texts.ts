import type { JsonObject } from '../../providers/contract.ts'

/** Every text of the messages that a model reads. */
export function promptTexts(messages: readonly JsonObject[]): string[] {
  const texts: string[] = []
  for (const message of messages) {
    if (typeof message.content === 'string') texts.push(message.content)
    if (Array.isArray(message.content)) {
      for (const part of message.content as JsonObject[])
        if (typeof part.text === 'string') texts.push(part.text)
    }
    if (typeof message.name === 'string') texts.push(message.name)
    if (message.tool_calls !== undefined) texts.push(JSON.stringify(message.tool_calls))
    if (message.function_call !== undefined) texts.push(JSON.stringify(message.function_call))
  }
  return texts
}

/**
 * Counts tokens with a public tokenizer: where an upstream reported no usage, and where a hold is
 * tight. The tables are loaded at the first use, which takes some 100 ms.
 */
import { cutLongRuns } from '../lib/cut-long-runs.ts'
import type { JsonObject } from '../providers/contract.ts'

/** Longer texts would keep the event loop busy for too long; they are estimated by their bytes. */
const CHARACTERS_MAX = 100_000

/** Undefined where the texts are too long to count. For a model of another family it is an estimate. */
export async function countTokens(texts: readonly string[]): Promise<number | undefined> {
  let characters = 0
  for (const text of texts) characters += text.length
  if (characters > CHARACTERS_MAX) return undefined
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  // Text that looks like a control token is text here, and must not throw.
  const count = (text: string): number => countTokens(text, { disallowedSpecial: new Set() })
  return texts.flatMap(cutLongRuns).reduce((sum, part) => sum + count(part), 0)
}

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

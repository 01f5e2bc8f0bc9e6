import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

/**
 * Replaces contents that are lists of parts by texts, in place: `content`, and `reasoning_content` for thinking. Mistral's
 * reasoning models send lists, and everything behind the adapter reads, counts and restores texts.
 */
export function toPlainContent({ choices }: JsonObject, part: 'message' | 'delta'): void {
  if (!Array.isArray(choices)) return
  for (const choice of choices as unknown[]) {
    const message = isObject(choice) ? choice[part] : undefined
    if (isObject(message) && Array.isArray(message.content)) flatten(message, message.content)
  }
}

function flatten(message: JsonObject, parts: readonly unknown[]): void {
  const thinking = parts.filter(isThinking).map((part) => textOf(part.thinking))
  const texts = parts.filter((part) => !isThinking(part)).map(textOf)
  message.content = texts.join('')
  const reasoning = thinking.join('')
  if (reasoning !== '' && typeof message.reasoning_content !== 'string')
    message.reasoning_content = reasoning
}

function isThinking(part: unknown): part is JsonObject {
  return isObject(part) && part.type === 'thinking'
}

/** Of a text, a part with a text, or a list of either. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(textOfPart).join('')
  return textOfPart(value)
}

function textOfPart(part: unknown): string {
  if (typeof part === 'string') return part
  return isObject(part) && typeof part.text === 'string' ? part.text : ''
}

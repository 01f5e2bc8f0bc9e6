import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'

/** Texts that the model put out in an answer, to be counted where the upstream did not. */
export function outputTexts(body: JsonObject, part: 'message' | 'delta'): string[] {
  if (!Array.isArray(body.choices)) return []
  const texts: string[] = []
  for (const choice of body.choices as unknown[]) {
    const message = isObject(choice) && isObject(choice[part]) ? choice[part] : {}
    for (const field of ['content', 'refusal', 'reasoning_content', 'reasoning'] as const) {
      if (typeof message[field] === 'string' && message[field] !== '') texts.push(message[field])
    }
    for (const field of ['tool_calls', 'function_call'] as const) {
      if (message[field]) texts.push(JSON.stringify(message[field]))
    }
  }
  return texts
}

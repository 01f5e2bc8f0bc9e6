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

/** Bytes that the model wrote in a chunk: texts, and the names and arguments of tool calls. */
export function countWrittenBytes(body: JsonObject): number {
  if (!Array.isArray(body.choices)) return 0
  let bytes = 0
  const add = (text: unknown): void => {
    if (typeof text === 'string') bytes += Buffer.byteLength(text)
  }
  for (const choice of body.choices as unknown[]) {
    const delta = isObject(choice) && isObject(choice.delta) ? choice.delta : {}
    for (const field of ['content', 'refusal', 'reasoning_content', 'reasoning'] as const)
      add(delta[field])
    const calls = Array.isArray(delta.tool_calls) ? (delta.tool_calls as unknown[]) : []
    for (const call of [...calls, { function: delta.function_call }]) {
      const called = isObject(call) ? (call.function ?? call.custom) : undefined
      if (!isObject(called)) continue
      for (const field of ['name', 'arguments', 'input'] as const) add(called[field])
    }
  }
  return bytes
}

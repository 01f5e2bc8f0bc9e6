import { isObject } from '../../platform/lib/is-object.ts'
import type { ChatMessage } from './read-messages.ts'

export interface PlannedCall {
  readonly name: string
  /** As the user wrote them: the JSON of an object. */
  readonly argumentsText: string
}

/** One call in each line: `chame Bash {"command": "ls"}`. */
const LINE = /^[ \t]*chame (\S{1,200}) (\{.*\})[ \t]*$/gm

/**
 * A user may write down the tool calls of an agent's task, to try an agent without a real model. The sandbox makes them
 * one after another, each after the result of the one before. Returns the next one, `done` after the last one, and
 * undefined if no message plans any.
 */
export function findPlannedCall(
  messages: readonly ChatMessage[],
): PlannedCall | 'done' | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { role, text } = messages[index] as ChatMessage
    const calls = role === 'user' ? listCalls(text) : []
    if (calls.length === 0) continue
    const results = messages.slice(index + 1).filter((message) => message.role === 'tool')
    return calls[results.length] ?? 'done'
  }
  return undefined
}

function listCalls(text: string): PlannedCall[] {
  return Array.from(text.matchAll(LINE), ([, name = '', argumentsText = '']) => ({
    name,
    argumentsText,
  })).filter(({ argumentsText }) => isJsonObject(argumentsText))
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

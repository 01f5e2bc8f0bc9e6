import { hash } from 'node:crypto'
import type { ChatRequest } from './chat-request.ts'
import { promptTexts } from './prompt-texts.ts'

/** Providers cache no prompt of fewer than 1,024 tokens. */
export const CACHED_FROM_BYTES = 4_096
/** Beginnings tell conversations apart: nobody makes this node digest long ones. */
const CHARACTERS_MAX = 4_096
const PARTS_MAX = 8

/**
 * Names the conversation of a chat: by the name that its client gives to the prompt's cache, else by its usage session,
 * else by its beginning, up to the first words of the user, which is the same in all its turns. Two conversations of one
 * name share a route, and lose nothing by it; so marks of caches and tools, which clients move and change, are left out.
 */
export function conversationOf(
  { body, messages, bytes }: Pick<ChatRequest, 'body' | 'messages' | 'bytes'>,
  sessionId: string | undefined,
): string | undefined {
  if (typeof body.prompt_cache_key === 'string') return body.prompt_cache_key
  if (sessionId !== undefined) return sessionId
  if (bytes < CACHED_FROM_BYTES) return undefined
  const asked = messages.findIndex(({ role }) => role === 'user')
  if (asked === -1) return undefined
  const texts = messages
    .slice(0, Math.min(asked + 1, PARTS_MAX))
    .flatMap((message) => promptTexts([message]).slice(0, PARTS_MAX))
    .map((text) => text.slice(0, CHARACTERS_MAX))
  return hash('sha256', texts.join('\n'), 'base64url')
}

import type { Placeholders } from '../../shield/placeholders.ts'
import { createStreamRestorer } from '../../shield/restore-stream.ts'
import { restoreChat, type ChatBody } from '../../shield/shield-chat.ts'
import type { ChatWriter } from './chat-format.ts'

/**
 * Puts the masked values back into what a writer writes. The usage is counted from what the upstream sent, before this
 * writer. A stream that breaks off within a placeholder ends before it.
 */
export function createRestoringWriter(writer: ChatWriter, placeholders: Placeholders): ChatWriter {
  const restorer = createStreamRestorer(placeholders)
  const eventsOf = (chunks: readonly ChatBody[]): string | undefined => {
    const events = chunks.map((chunk) => writer.chunk(chunk))
    const shown = events.filter((event) => event !== undefined)
    return shown.length === 0 ? undefined : shown.join('')
  }
  return {
    answer: (body, charged) => writer.answer(restoreChat(body, placeholders), charged),
    chunk: (body) => eventsOf(restorer.push(body)),
    end: (charged) => (eventsOf(restorer.end()) ?? '') + writer.end(charged),
    broken: (refused) => writer.broken(refused),
    keep: writer.keep,
  }
}

import type { JsonObject } from '../../../../providers/contract.ts'
import type { ItemList, ItemStatus } from './item-list.ts'

type PartType = 'output_text' | 'refusal'

/** A message to which deltas add. */
export interface MessageItem {
  readonly kind: 'message'
  say(type: PartType, text: string): void
  end(status: ItemStatus): void
}

export function beginMessage(list: ItemList): MessageItem {
  const { emit } = list
  const message = { type: 'message', role: 'assistant' }
  const { index, id } = list.add('msg', { ...message, status: 'in_progress', content: [] })
  const content: JsonObject[] = []
  let part: { type: PartType; text: string } | undefined
  const at = () => ({ item_id: id, output_index: index, content_index: content.length })

  function endPart(): void {
    if (!part) return
    const { type, text } = part
    const ended = toPart(type, text)
    const fields = type === 'refusal' ? { refusal: text } : { text, logprobs: [] }
    emit(`response.${type}.done`, { ...at(), ...fields })
    emit('response.content_part.done', { ...at(), part: ended })
    content.push(ended)
    part = undefined
  }

  return {
    kind: 'message',
    say(type, text) {
      if (part?.type !== type) {
        endPart()
        part = { type, text: '' }
        emit('response.content_part.added', { ...at(), part: toPart(type, '') })
      }
      part.text += text
      const fields = type === 'refusal' ? {} : { logprobs: [] }
      emit(`response.${type}.delta`, { ...at(), delta: text, ...fields })
    },
    end(status) {
      endPart()
      list.end(index, { id, ...message, status, content })
    },
  }
}

function toPart(type: PartType, text: string): JsonObject {
  if (type === 'refusal') return { type, refusal: text }
  return { type, text, annotations: [], logprobs: [] }
}

import type { JsonObject } from '../../../../providers/contract.ts'
import type { ItemList } from './item-list.ts'
import type { KeptReasoning, SealReasoning } from './reasoning-seal.ts'

/** A reasoning item to which deltas add. */
export interface ReasoningItem {
  readonly kind: 'reasoning'
  /** Adds the reasoning of a delta. */
  add(delta: JsonObject): void
  end(): void
}

/** Shown as a summary, which every client displays; models' own reasoning is displayed by few. */
export function beginReasoning(list: ItemList, seal: SealReasoning): ReasoningItem {
  const { emit } = list
  const { index, id } = list.add('rs', { type: 'reasoning', summary: [] })
  const at = { item_id: id, output_index: index, summary_index: 0 }
  const details: unknown[] = []
  let name: string | undefined
  let text = ''

  function think(delta: string): void {
    const part = { type: 'summary_text', text: '' }
    if (text === '') emit('response.reasoning_summary_part.added', { ...at, part })
    text += delta
    emit('response.reasoning_summary_text.delta', { ...at, delta })
  }

  return {
    kind: 'reasoning',
    add(delta) {
      const { reasoning_details: more } = delta
      if (Array.isArray(more)) details.push(...more)
      const field = reasoningNameOf(delta)
      name ??= field
      if (field !== undefined) think(delta[field] as string)
    },
    end() {
      const part = { type: 'summary_text', text }
      if (text !== '') {
        emit('response.reasoning_summary_text.done', { ...at, text })
        emit('response.reasoning_summary_part.done', { ...at, part })
      }
      const fields = {
        ...(name === undefined ? {} : { [name]: text }),
        ...(details.length > 0 ? { reasoning_details: details } : {}),
      }
      const sealed = seal({ fields, calls: {} })
      const summary = text === '' ? [] : [part]
      list.end(index, { id, type: 'reasoning', summary, encrypted_content: sealed })
    },
  }
}

/** Adds an item without a text, for signatures beside texts and calls. */
export function addSignatures(list: ItemList, seal: SealReasoning, kept: KeptReasoning): void {
  const item = { type: 'reasoning', summary: [] }
  const { index, id } = list.add('rs', item)
  list.end(index, { id, ...item, encrypted_content: seal(kept) })
}

export function hasReasoning(delta: JsonObject): boolean {
  const { reasoning_details: details } = delta
  return reasoningNameOf(delta) !== undefined || (Array.isArray(details) && details.length > 0)
}

/** The field that holds the text of reasoning; upstreams use either name. */
function reasoningNameOf(delta: JsonObject): string | undefined {
  return ['reasoning_content', 'reasoning'].find((name) => {
    const text = delta[name]
    return typeof text === 'string' && text !== ''
  })
}

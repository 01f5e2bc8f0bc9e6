/** The catalog in the shape of Anthropic's API, for clients that send the header `anthropic-version`. */
import type { FastifyRequest } from 'fastify'
import type { Model } from '../../money/catalog/model.ts'

export interface MessagesPage {
  readonly limit: number
  readonly after_id?: string
  readonly before_id?: string
}

export function speaksMessages({ headers }: FastifyRequest): boolean {
  return headers['anthropic-version'] !== undefined
}

/** Models for chats only: no other kind can be called in this format. An unknown id of a page gives an empty page. */
export function messagesModels(
  models: readonly Model[],
  { limit, after_id: afterId, before_id: beforeId }: MessagesPage,
) {
  const ids = models.map(({ id }) => id)
  const begin = afterId === undefined ? 0 : after(ids, afterId)
  const end = beforeId === undefined ? models.length : Math.max(0, ids.indexOf(beforeId))
  const between = models.slice(begin, end)
  const isBackwards = beforeId !== undefined && afterId === undefined
  const page = isBackwards ? between.slice(-limit) : between.slice(0, limit)
  return {
    data: page.map(messagesModel),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: page.length < between.length,
  }
}

function after(ids: readonly string[], id: string): number {
  const index = ids.indexOf(id)
  return index === -1 ? ids.length : index + 1
}

/** The catalog knows no date of release; the format has the epoch for that. */
export function messagesModel({ id, displayName, contextTokens, outputTokensMax }: Model) {
  return {
    type: 'model' as const,
    id,
    display_name: displayName,
    created_at: '1970-01-01T00:00:00Z',
    max_input_tokens: contextTokens,
    max_tokens: outputTokensMax,
  }
}

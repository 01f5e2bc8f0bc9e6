import { BadRequest, missing, parseJsonBody, readModelName, type JsonObject } from './read-field.ts'
import { createRefuser, refuse, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody } from './deliver-stream.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import { findSandboxModel } from './sandbox-models.ts'

/** The chunks of a document, with the query, that count as documents of their own. */
const CHUNK_TOKENS = 500
const DOCUMENTS_PER_UNIT = 100

/** Cohere's rerank: a document has the share of the query's words that are in it as its score. */
export function createSandboxRerank(openTokenizer: () => Promise<Tokenizer>): {
  /** Throws `BadRequest`. */
  rerank(exchange: Exchange, text: string): Promise<void>
} {
  const refuser = createRefuser()
  return {
    async rerank(exchange, text) {
      const body = parseJsonBody(text)
      const model = findSandboxModel(readModelName(body.model))
      const { query, documents } = readTexts(body)
      if (model.delivery === 'hang') return
      if (refuser.isRefused(model)) return refuse(exchange, model)
      const results = documents
        .map((document, index) => ({ index, relevance_score: scoreOf(query, document) }))
        .sort((a, b) => b.relevance_score - a.relevance_score)
      const tokenizer = await openTokenizer()
      const ofQuery = tokenizer.count(query)
      const sizes = documents.map((document) => ofQuery + tokenizer.count(document))
      const chunks = sizes.reduce((sum, size) => sum + Math.ceil(size / CHUNK_TOKENS), 0)
      const promptTokens = sizes.reduce((sum, size) => sum + size, 0)
      const hasUsage = model.usage !== 'none'
      if (hasUsage) exchange.reported = { promptTokens, completionTokens: 0 }
      const answer = {
        id: 'sandbox-rerank',
        results,
        ...(hasUsage && {
          meta: { billed_units: { search_units: Math.ceil(chunks / DOCUMENTS_PER_UNIT) } },
          usage: { total_tokens: promptTokens },
        }),
      }
      const { pace, delivery } = model
      const common = { exchange, headers: PROVIDER_HEADERS, pace, delivery }
      return deliverBody({ ...common, body: JSON.stringify(answer), tokens: 0 })
    },
  }
}

function readTexts({ query, documents }: JsonObject): { query: string; documents: string[] } {
  if (typeof query !== 'string' || query === '') throw missing('query')
  if (!Array.isArray(documents) || documents.length === 0) throw missing('documents')
  if (!documents.every((document) => typeof document === 'string'))
    throw new BadRequest('documents must be strings', 'documents', 'invalid_type')
  return { query, documents }
}

function scoreOf(query: string, document: string): number {
  const words = new Set(wordsOf(document))
  const asked = wordsOf(query)
  return asked.filter((word) => words.has(word)).length / Math.max(1, asked.length)
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

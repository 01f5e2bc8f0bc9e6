/** The rerank kind of call: documents in the order of a query, billed by the search unit or by the input tokens. */
import type { Model } from '../../../money/catalog/model.ts'
import { outputTokensTypical } from '../../../money/catalog/quote.ts'
import type { Price } from '../../../money/catalog/prices.ts'
import type { Resolution } from '../../../money/ledger/resolution.ts'
import { beyond } from '../../../platform/admission/share.ts'
import { jsonBrl } from '../../../platform/lib/money.ts'
import { UNCOUNTED_BYTES, type Provider, type RerankAnswer } from '../../providers/contract.ts'
import { plainTokens } from '../../providers/plain-tokens.ts'
import { billedUsage, estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallBounds, CallKind } from '../call-kind.ts'
import type { HeldCall, Used } from '../call.ts'
import { chargeHeldCall } from '../charge.ts'
import { createTextShield, type ShieldRequest } from '../shield/text-shield.ts'
import { readRerankRequest, type RerankRequest } from './rerank-request.ts'

/** Masks each text on its own. Documents that the caller wants back come back as the model read them. */
const shieldRerankRequest: ShieldRequest<RerankRequest> = (request, options) => {
  const shield = createTextShield(options)
  const query = shield.read('query', request.query)
  const documents = request.documents.map((text, at) => shield.read(`documents[${at}]`, text))
  return shield.outcome({ ...request, query, documents })
}

/** The unit of Cohere and of those that bill like it, in place of tokens. */
const SEARCH_UNIT = 'search_units'
/** A search unit is a query with so many documents. */
const DOCUMENTS_PER_UNIT = 100
/** A longer document, with the query, counts as several. */
const UNIT_CHUNK_TOKENS = 500
/** Tokens that a model adds around a query and a document, with a margin. */
const TEMPLATE_TOKENS = 16

export const rerankKind: CallKind<Buffer, RerankRequest, RerankAnswer> = {
  operation: 'rerank',
  shieldRequest: shieldRerankRequest,
  read: readRerankRequest,
  findFault: findModelFault,
  bound: boundRerank,
  answerBytesMax: (_model, request) => (request.returnsDocuments ? bytesOf(request) : 0),
  // Some upstreams send the documents back, whoever asks for them.
  mayBeLarge: ({ request }) => bytesOf(request) > UNCOUNTED_BYTES / 2,
  can: (provider) => provider.rerank !== undefined,
  call: (provider, { held, upstreamModel, signal, takeBytes }) =>
    (provider.rerank as NonNullable<Provider['rerank']>)(
      {
        model: upstreamModel,
        query: held.request.query,
        documents: held.request.documents,
        documentTokensMax: held.request.documentTokensMax,
        callId: held.holdId,
        takeBytes: beyond(UNCOUNTED_BYTES, takeBytes),
      },
      signal,
    ),
  async relay(held, { outcome }, answeredBy, client) {
    const by = answeredBy()
    const resolution = chargeHeldCall(held, usedBy(held, outcome, by.price), by)
    return {
      resolution,
      write: () => writeRanks(held, outcome, resolution),
      send: (text) => client.answer(text, held.limits),
    }
  },
}

function findModelFault({ id, rerank }: Model): string | undefined {
  return rerank ? undefined : `O modelo "${id}" não ordena documentos; use o endpoint dele.`
}

function bytesOf({ query, documents }: RerankRequest): number {
  return documents.reduce((sum, text) => sum + Buffer.byteLength(text), Buffer.byteLength(query))
}

/** Every token has at least a byte, so the bytes bound the tokens, and with them the chunks. */
function boundRerank(model: Model, { query, documents }: RerankRequest): CallBounds {
  const sizes = documents.map((text) => Buffer.byteLength(text))
  const queryMax = Buffer.byteLength(query)
  const tokensMax = tokensOf(model.contextTokens, queryMax, sizes)
  const promptTokensEstimated = Math.min(typicalTokens(query, documents), tokensMax)
  const isSearch = isBySearch(model.price)
  return {
    promptTokensMax: isSearch ? 0 : tokensMax,
    promptTokensEstimated: isSearch ? 0 : promptTokensEstimated,
    outputTokensMax: 0,
    choices: 1,
    ...(isSearch ? { unitsMax: { [SEARCH_UNIT]: searchUnits(queryMax, sizes) } } : {}),
    tokensCounted: promptTokensEstimated,
    canLowerOutput: false,
  }
}

/** The query is read again for each document, and for each chunk of one that is longer than the context. */
function tokensOf(contextTokens: number, query: number, documents: readonly number[]): number {
  return documents.reduce(
    (sum, size) => sum + size + chunksOf(size, query, contextTokens) * (query + TEMPLATE_TOKENS),
    0,
  )
}

/** Models read at most half of a chunk of the query. */
function chunksOf(document: number, query: number, chunkTokens: number): number {
  const room = chunkTokens - Math.min(query + TEMPLATE_TOKENS, Math.floor(chunkTokens / 2))
  return Math.max(1, Math.ceil(document / Math.max(1, room)))
}

function searchUnits(query: number, documents: readonly number[]): number {
  const chunks = documents.reduce((sum, size) => sum + chunksOf(size, query, UNIT_CHUNK_TOKENS), 0)
  return Math.ceil(chunks / DOCUMENTS_PER_UNIT)
}

function typicalTokens(query: string, documents: readonly string[]): number {
  const ofQuery = outputTokensTypical(Buffer.byteLength(query))
  return documents.reduce(
    (sum, text) => sum + ofQuery + outputTokensTypical(Buffer.byteLength(text)),
    0,
  )
}

function isBySearch({ units }: Price): boolean {
  return units?.[SEARCH_UNIT] !== undefined
}

function usedBy(held: HeldCall<RerankRequest>, { usage }: RerankAnswer, price: Price): Used {
  const { query, documents } = held.request
  const isSearch = isBySearch(price)
  const billed = usage && isSearch ? { ...usage, ...plainTokens(0, 0) } : usage
  // A document has a token at least, and a search a unit.
  const least = isSearch
    ? { searchUnits: Math.ceil(documents.length / DOCUMENTS_PER_UNIT) }
    : { promptTokens: documents.length }
  const reported = possibleUsage(held, billed, least)
  if (reported)
    return { counts: billedUsage(held.model, price, reported), kind: 'exact', reason: null }
  const sizes = documents.map((text) => outputTokensTypical(Buffer.byteLength(text)))
  const typical = searchUnits(outputTokensTypical(Buffer.byteLength(query)), sizes)
  return {
    counts: isSearch
      ? { ...plainTokens(0, 0), units: { [SEARCH_UNIT]: typical } }
      : plainTokens(held.promptTokensEstimated, 0),
    kind: 'estimated',
    reason: estimateReason(held, billed),
  }
}

/** The best first, as many as were asked for. */
function writeRanks(
  { holdId, model, request }: HeldCall<RerankRequest>,
  { ranks }: RerankAnswer,
  { units, promptTokens, billedNanoBrl }: Resolution,
): string {
  const counts = units === null ? {} : (JSON.parse(units) as Record<string, number>)
  const best = [...ranks].sort((a, b) => b.score - a.score).slice(0, request.topN)
  return JSON.stringify({
    id: holdId,
    model: model.id,
    results: best.map(({ index, score }) => ({
      index,
      relevance_score: score,
      ...(request.returnsDocuments ? { document: { text: request.documents[index] } } : {}),
    })),
    meta: { api_version: { version: '2' }, billed_units: counts },
    ...(promptTokens > 0 ? { usage: { total_tokens: promptTokens } } : {}),
    cost_billed_brl: jsonBrl(billedNanoBrl),
  })
}

import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  JsonObject,
  Provider,
  Rank,
  RerankAnswer,
  RerankCall,
  ReportedUsage,
} from '../contract.ts'
import { plainTokens } from '../plain-tokens.ts'
import { post } from './post.ts'
import { BadAnswer } from './read-answer.ts'
import { readCount } from './read-usage.ts'
import type { Upstream } from './upstream.ts'

/** Some upstreams send all documents back. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/**
 * `/rerank`, as Cohere (`/v2`), Jina, Voyage, vLLM and others have it. How many results the caller wants is not sent:
 * its name differs, and all documents are billed in any case.
 */
export function createRerank(upstream: Upstream): NonNullable<Provider['rerank']> {
  const path = upstream.path('/rerank')
  return async function rerank(call, signal) {
    const { model, query, documents, documentTokensMax, callId, takeBytes } = call
    const body = JSON.stringify({ model, query, documents, max_tokens_per_doc: documentTokensMax })
    const request = { path, callId, body, answerBytesMax: ANSWER_BYTES_MAX, takeBytes }
    return post(upstream, request, signal, (answer) => readAnswer(answer, call))
  }
}

function readAnswer(answer: JsonObject, { documents }: RerankCall): RerankAnswer {
  const results = answer.results ?? answer.data
  if (!Array.isArray(results) || results.length === 0) throw new BadAnswer('there are no results')
  const ranks = results.map((each) => readRank(each, documents.length))
  if (new Set(ranks.map(({ index }) => index)).size !== ranks.length)
    throw new BadAnswer('a document has two ranks')
  return { kind: 'ranks', ranks, usage: readUsage(answer) }
}

function readRank(result: unknown, count: number): Rank {
  if (!isObject(result)) throw new BadAnswer('a result is not an object')
  const index = readCount(result.index)
  const score = result.relevance_score ?? result.score
  if (index === undefined || index >= count || typeof score !== 'number')
    throw new BadAnswer('a result has no document or no score')
  return { index, score }
}

/** Cohere's units are in `meta`; others count tokens. Undefined if there is neither. */
function readUsage({ meta, usage }: JsonObject): ReportedUsage | undefined {
  const { billed_units: billed, tokens } = isObject(meta) ? meta : {}
  const searchUnits = isObject(billed) ? readCount(billed.search_units) : undefined
  const counts = isObject(usage) ? usage : isObject(tokens) ? tokens : {}
  const promptTokens = readCount(counts.total_tokens ?? counts.prompt_tokens ?? counts.input_tokens)
  if (searchUnits === undefined && promptTokens === undefined) return undefined
  return {
    ...plainTokens(promptTokens ?? 0, 0),
    ...(searchUnits === undefined ? {} : { searchUnits }),
  }
}

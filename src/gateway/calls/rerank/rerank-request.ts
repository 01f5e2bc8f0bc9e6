import type { JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { findNumberFault, isAbsent } from '../field-faults.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'
import { isObject } from '../../../platform/lib/is-object.ts'

export interface RerankRequest extends CallRequest {
  readonly query: string
  readonly documents: readonly string[]
  /** The most results that the caller wants; the upstream ranks all documents, which is what it bills. */
  readonly topN: number
  readonly returnsDocuments: boolean
  /** The upstream reads no more of a document. */
  readonly documentTokensMax: number | undefined
}

export const DOCUMENTS_MAX = 1_000

/** Reads a request in Cohere's format. */
export function readRerankRequest(raw: Buffer): RerankRequest | Refusal {
  const body = readJsonBody(raw)
  if (isRefusal(body)) return body
  const documents = documentsOf(body.documents)
  const fault =
    findRoutingFault(body) ??
    findQueryFault(body) ??
    (typeof documents === 'string' ? documents : undefined) ??
    findNumberFault(body, 'top_n', 1, Number.MAX_SAFE_INTEGER, true) ??
    findNumberFault(body, 'max_tokens_per_doc', 1, Number.MAX_SAFE_INTEGER, true) ??
    findReturnFault(body)
  if (fault !== undefined) return refusals.invalidRequest(fault)
  return {
    ...takeRouting(body),
    isStream: false,
    query: body.query as string,
    documents: documents as readonly string[],
    topN: Math.min((body.top_n as number | null | undefined) ?? Infinity, documents.length),
    returnsDocuments: body.return_documents === true,
    documentTokensMax: (body.max_tokens_per_doc as number | null | undefined) ?? undefined,
  }
}

function findQueryFault({ query }: JsonObject): string | undefined {
  return typeof query === 'string' && query !== ''
    ? undefined
    : 'O campo "query" é obrigatório e deve ser um texto.'
}

function findReturnFault({ return_documents: value }: JsonObject): string | undefined {
  return isAbsent(value) || typeof value === 'boolean'
    ? undefined
    : 'O campo "return_documents" deve ser true ou false.'
}

/** The texts of the documents; the fault in Portuguese if one has none. */
function documentsOf(documents: unknown): readonly string[] | string {
  if (!Array.isArray(documents) || documents.length === 0)
    return 'O campo "documents" é obrigatório e deve ser uma lista de textos.'
  if (documents.length > DOCUMENTS_MAX)
    return `O campo "documents" aceita até ${DOCUMENTS_MAX} documentos.`
  const texts = documents.map((each: unknown) => (isObject(each) ? each.text : each))
  const odd = texts.findIndex((text) => typeof text !== 'string' || text === '')
  return odd === -1
    ? (texts as string[])
    : `documents[${odd}] deve ser um texto, ou um objeto com "text", e não pode ser vazio.`
}

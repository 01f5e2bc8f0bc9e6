import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { withoutOpenCookies } from '../../identity/sign-in/session-cookie.ts'
import { GEMINI_LIST_PATH } from '../rest/error-formats.ts'
import { originOf } from '../rest/request-headers.ts'

export function hasBody({ headers }: FastifyRequest): boolean {
  const { 'content-length': length } = headers
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
}

/** Returns the size of the body; undefined if only its end will show it. */
export function declaredBytes({ headers }: FastifyRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}

/**
 * Returns the target as routes expect it: without the scheme and host that clients of proxies send. Invalid
 * percent-encoding is kept as it is, so that it is an unknown path like any other, and so is NUL, which PostgreSQL refuses
 * in every text.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('%')) return target
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  const encoded = path.split('?', 1)[0] as string
  return isText(encoded) ? path : path.replaceAll('%', '%25')
}

function isText(encoded: string): boolean {
  try {
    return !decodeURIComponent(encoded).includes('\0')
  } catch {
    return false
  }
}

/** Returns the client's id for the call if it is a UUID, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && isUuid(header) ? header.toLowerCase() : createId()
}

/** Removes our cookies without the prefix `__Host-` from requests over https: another host of the site can set those. */
export function hideOpenCookies(server: FastifyInstance, publicUrl: string | undefined): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request
    if (headers.cookie !== undefined && originOf(request, publicUrl).startsWith('https:'))
      headers.cookie = withoutOpenCookies(headers.cookie)
    done()
  })
}

/**
 * The paths of model calls as clients write them when their base address has no `/v1`, has it twice, ends in a slash, or
 * is meant for Azure. Only these paths have other spellings: a proxy that guards another path must not be passed by.
 */
const CLIENT_PATH =
  /^\/(?:openai\/)?(?:v1\/)*(?:openai\/)?((?:(?:chat\/)?completions|responses|messages(?:\/count_tokens|\/batches)?|files|batches|embeddings|rerank|moderations|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations))|(?:responses|models|videos|messages\/batches|files(?!\/images\/)|batches)\/.+|models|videos)$/
/** Azure names the model in the path. */
const DEPLOYMENT =
  /^\/(?:v1\/)*openai\/deployments\/([^/]{1,200})\/((?:chat\/)?completions|embeddings|images\/generations|audio\/(?:speech|transcriptions|translations))$/

/** Google's clients name the model and what is asked of it in the path. */
const GEMINI_CALL =
  /^(?:\/v1)*\/v1(?:beta)?\/models\/(.{1,200}):(generateContent|streamGenerateContent|countTokens|embedContent|batchEmbedContents)$/s
const GEMINI_PATH = /^(?:\/v1)*\/v1beta(\/.*)$/
/** Newer versions of Google's libraries ask for the catalog at the path that others have for theirs, too. */
const CATALOG_PATH = /^(?:\/v1)+(\/models(?:\/.*)?)$/

const deployments = new WeakMap<IncomingMessage, string>()

/** Returns the model that the path of a request names, in place of its body. */
export function modelInPath(request: IncomingMessage): string | undefined {
  return deployments.get(request)
}

/** Returns the path and query of a request, as routes expect them. */
export function clientPath(request: IncomingMessage): string {
  const target = originForm(request.url ?? '/')
  const end = target.indexOf('?')
  const path = end === -1 ? target : target.slice(0, end)
  const isPlain = path.startsWith('/v1/') && !path.startsWith('/v1/v1/')
  const isGoogles = request.headers['x-goog-api-client'] !== undefined
  const isOther = path.includes('//') || path.includes('/openai/') || path.includes(':')
  if (isPlain && !isOther && !isGoogles) return target
  const query = end === -1 ? '' : target.slice(end)
  const single = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  const deployment = DEPLOYMENT.exec(single)
  if (deployment) {
    deployments.set(request, decodeURIComponent(deployment[1] as string))
    return `/v1/${deployment[2]}${query}`
  }
  const called = GEMINI_CALL.exec(decodeURIComponent(single))
  if (called && request.method === 'POST') {
    deployments.set(request, called[1] as string)
    return geminiPath(called[2] as string, takeKey(request, query))
  }
  const ofGemini = GEMINI_PATH.exec(single) ?? (isGoogles ? CATALOG_PATH.exec(single) : null)
  if (ofGemini) return `/v1beta${ofGemini[1]}${takeKey(request, query)}`
  const known = CLIENT_PATH.exec(single)
  return known ? `/v1/${known[1]}${query}` : target
}

/** A stream is one list of JSON, unless the client asks for events. */
function geminiPath(method: string, query: string): string {
  const isList = method === 'streamGenerateContent' && !/[?&]alt=sse(?:&|$)/.test(query)
  return `${isList ? GEMINI_LIST_PATH : `/v1beta/${method}`}${query}`
}

/**
 * Moves the key that some of Google's clients write in the query to the header that the others send, so that no part of
 * this server has an address with a key in it.
 */
function takeKey({ headers }: IncomingMessage, query: string): string {
  const fields = new URLSearchParams(query)
  const key = fields.get('key')
  if (key === null) return query
  headers['x-goog-api-key'] ??= key
  fields.delete('key')
  return fields.size === 0 ? '' : `?${fields.toString()}`
}

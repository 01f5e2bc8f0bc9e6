/**
 * The paths of model calls as clients write them when their base address has no `/v1`, has it twice, ends in a slash, or
 * is meant for Azure. Only these paths have other spellings: a proxy that guards another path must not be passed by.
 */
import type { IncomingMessage } from 'node:http'
import { originForm } from './request-head.ts'

const CLIENT_PATH =
  /^\/(?:openai\/)?(?:v1\/)*(?:openai\/)?((?:chat\/completions|responses|messages(?:\/count_tokens)?|embeddings|images\/generations|audio\/transcriptions)|(?:responses|models)\/.+|models)$/
/** Azure names the model in the path. */
const DEPLOYMENT =
  /^\/(?:v1\/)*openai\/deployments\/([^/]{1,200})\/(chat\/completions|embeddings|images\/generations|audio\/transcriptions)$/

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
  if (isPlain && !path.includes('//') && !path.includes('/openai/')) return target
  const query = end === -1 ? '' : target.slice(end)
  const single = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  const deployment = DEPLOYMENT.exec(single)
  if (deployment) {
    deployments.set(request, decodeURIComponent(deployment[1] as string))
    return `/v1/${deployment[2]}${query}`
  }
  const known = CLIENT_PATH.exec(single)
  return known ? `/v1/${known[1]}${query}` : target
}

/**
 * The switch of `npm run bench:turns -- --before HEAD --before-client undici`: imported before a server, it puts undici's
 * pool in the place of our own HTTP/1.1 client (`src/gateway/providers/http1`), to measure what that one saves.
 */
import { registerHooks } from 'node:module'
import { Pool } from 'undici'
import type { Origin, OriginOptions } from '../../src/gateway/providers/http1/open-origin.ts'

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.endsWith('/http1/open-origin.ts')
      ? { url: import.meta.url, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context),
})

export function openOrigin(
  { origin }: URL,
  { connectTimeoutMs, headTimeoutMs, connectionsMax, keepAliveMs }: OriginOptions,
): Origin {
  const pool = new Pool(origin, {
    connections: connectionsMax,
    pipelining: 1,
    headersTimeout: headTimeoutMs,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveMs,
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
  })
  return {
    dispatch: (request, handler) => void pool.dispatch(request, handler),
    destroy: () => void pool.destroy(),
  }
}

import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Html } from '../../platform/lib/html.ts'
import { originOf } from '../../http/rest/origin-of.ts'
import { OF_EVERYBODY, OF_NO_SHARED_CACHE, sendPage } from './send-page.ts'
import type { SiteFacts } from './site-facts.ts'
import type { SiteDeps } from './layout.ts'

const HTML = 'text/html; charset=utf-8'

export interface Visit {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly deps: SiteDeps
}

export interface Page {
  readonly status?: number
  readonly type?: string
  readonly cacheControl: string
  /** What a browser may do on the page, if it is more than the pages of the site need. */
  readonly policy?: string
  readonly write: (facts: SiteFacts, origin: string) => Html
}

/** Sends a page that is kept once written; `name` is that of the page for one origin. */
export async function sendWritten(
  { request, reply, deps }: Visit,
  name: string,
  { status = 200, type = HTML, cacheControl, policy, write }: Page,
): Promise<FastifyReply> {
  const facts = await deps.siteFacts()
  const origin = originOf(request, deps.config.publicUrl)
  const page = await deps.sitePages.find(facts, `${origin} ${name}`, () => ({
    status,
    type,
    text: write(facts, origin),
  }))
  const isChosen = deps.config.publicUrl === undefined && cacheControl === OF_EVERYBODY
  return sendPage(request, reply, page, {
    cacheControl: isChosen ? OF_NO_SHARED_CACHE : cacheControl,
    policy,
  })
}

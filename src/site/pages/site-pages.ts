/** The written pages, kept until a fact changes that any of them shows. */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { htmlText, type Html } from '../../platform/lib/html.ts'
import type { SiteFacts } from './site-facts.ts'

/** Without `PUBLIC_URL` a page depends on the host that its visitor names; with it, this is never reached. */
const PAGES_MAX = 1_000
const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

export interface WrittenPage {
  readonly status: number
  readonly type: string
  readonly tag: string
  readonly plain: Buffer
  readonly br: Buffer
  readonly gzip: Buffer
}

export interface PageText {
  readonly status: number
  readonly type: string
  readonly text: Html
}

export interface SitePages {
  find(facts: SiteFacts, name: string, write: () => PageText): Promise<WrittenPage>
}

export function createSitePages(): SitePages {
  const pages = new Map<string, Promise<WrittenPage>>()
  let shown: SiteFacts | undefined
  return {
    find(facts, name, write) {
      if (facts !== shown || pages.size >= PAGES_MAX) pages.clear()
      shown = facts
      const found = pages.get(name)
      if (found) return found
      const page = writePage(write())
      pages.set(name, page)
      return page
    },
  }
}

/** Ready to be sent in each encoding. That takes long, so it is done once for all visits. */
async function writePage({ status, type, text }: PageText): Promise<WrittenPage> {
  const plain = Buffer.from(htmlText(text))
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 }
  const [br, gzipped] = await Promise.all([toBrotli(plain, { params }), toGzip(plain)])
  return { status, type, tag: tagOf(plain), plain, br, gzip: gzipped }
}

/** Names a version of a page. */
export function tagOf(plain: Buffer): string {
  return hash('sha256', plain, 'base64url').slice(0, 27)
}

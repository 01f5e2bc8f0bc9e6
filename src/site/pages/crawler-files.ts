/** `robots.txt` and `sitemap.xml`. */
import type { Model } from '../../money/catalog/model.ts'
import { escapeHtml } from '../../platform/lib/escape-html.ts'
import { trustedHtml, type Html } from '../../platform/lib/html.ts'
import { modelPath } from './model-words.ts'

const PUBLIC_PAGES = ['/', '/modelos', '/cambio', '/status', '/termos', '/privacidade']
/** Pages of one person, and the interface for programs. */
const NOT_CRAWLED = [
  '/v1/',
  '/auth/',
  '/admin',
  '/mailbox',
  '/files/',
  '/inbound/',
  '/unsubscribe/',
]

export function robotsText(origin: string, mode: 'sandbox' | 'live'): Html {
  const refused = mode === 'sandbox' ? ['/'] : NOT_CRAWLED
  const lines = ['User-agent: *', ...refused.map((path) => `Disallow: ${path}`)]
  if (mode === 'live') lines.push(`Sitemap: ${origin}/sitemap.xml`)
  return trustedHtml(`${lines.join('\n')}\n`)
}

/** The public pages, those of the documentation, and the models that can be called. */
export function sitemap(
  models: readonly Model[],
  docPaths: readonly string[],
  origin: string,
): Html {
  const offered = models.filter(({ routes }) => routes.length > 0)
  const lines = [...PUBLIC_PAGES, ...docPaths, ...offered.map(modelPath)].map(
    (path) => `<url><loc>${escapeHtml(`${origin}${path}`)}</loc></url>`,
  )
  const head = '<?xml version="1.0" encoding="UTF-8"?>'
  const list = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
  return trustedHtml([head, list, ...lines, '</urlset>', ''].join('\n'))
}

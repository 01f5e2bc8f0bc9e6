import { hash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { escapeHtml } from '../../platform/lib/html.ts'

/** The colours are those of the dashboard (`web/src/style.css`). */
const STYLE = `:root{color-scheme:light dark;--ink:#15211b;--canvas:#f7f8f6;--muted:#55625a;--line:#7f8a82;--accent:#0f5b40;--on:#fff;--fault:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#ecf2ee;--canvas:#0e1411;--muted:#a3b1a9;--line:#77857d;--accent:#5fcf9f;--on:#06231a;--fault:#ffb4ab}}
body{font:1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:0 auto;padding:1rem 1.25rem 3rem;color:var(--ink);background:var(--canvas);overflow-wrap:anywhere}
body.wide{max-width:60rem}.home{display:inline-flex;align-items:center;min-height:44px;margin-bottom:2rem;font-weight:600;color:var(--ink);text-decoration:none}
h1{font-size:1.5rem;line-height:1.25;margin:0}h2{font-size:1.125rem;margin:2rem 0 .5rem}a{color:var(--accent)}label{display:block;font-weight:600;margin-bottom:.25rem}
input{box-sizing:border-box;width:100%;min-height:44px;font:inherit;padding:.5rem .75rem;border:1px solid var(--line);border-radius:8px;color:inherit;background:transparent}
button{min-height:44px;width:100%;margin-top:1rem;font:inherit;font-weight:600;border:0;border-radius:8px;color:var(--on);background:var(--accent);cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}.fault{color:var(--fault)}small{color:var(--muted);display:block}
ol{list-style:none;padding:0}li{border-bottom:1px solid var(--line);padding:.6rem 0}pre{white-space:pre-wrap}iframe{width:100%;height:40rem;border:1px solid var(--line);background:#fff}`
const STYLE_SOURCE = `'sha256-${hash('sha256', STYLE, 'base64')}'`

/** The policy of a `plainPage`: it may send its own form, and nothing else. */
export const PLAIN_PAGE_POLICY = `default-src 'none'; style-src ${STYLE_SOURCE}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

/** A page with one question or answer, beside the dashboard and the site. It has no script, and a way back. */
export function plainPage(title: string, body: string, { isWide = false } = {}): string {
  return `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)} · Catraca</title><style>${STYLE}</style></head>
<body${isWide ? ' class="wide"' : ''}><header><a class="home" href="/">← Catraca</a></header><main><h1>${escapeHtml(title)}</h1>
${body}</main></body></html>`
}

/** Sends a page whose address is a secret of its reader. `referrerPolicy` decides which sites may see the address. */
export function sendPrivatePage(
  reply: FastifyReply,
  status: number,
  html: string,
  {
    policy = PLAIN_PAGE_POLICY,
    referrerPolicy,
  }: { policy?: string; referrerPolicy: 'no-referrer' | 'same-origin' },
): FastifyReply {
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .header('content-security-policy', policy)
    .header('x-content-type-options', 'nosniff')
    .header('x-robots-tag', 'noindex')
    .header('referrer-policy', referrerPolicy)
    .header('cache-control', 'no-store')
    .send(html)
}

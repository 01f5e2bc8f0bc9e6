import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import { escapeHtml } from '../../platform/lib/escape-html.ts'
import { sendPrivatePage } from '../rest/send-private-page.ts'

const STYLE = `:root{color-scheme:light dark;--ink:#16211c;--paper:#fff;--accent:#0b6b45;--on:#fff;--fault:#b3261e}
@media(prefers-color-scheme:dark){:root{--ink:#e8efeb;--paper:#101713;--accent:#5fd3a0;--on:#06281a;--fault:#ffb4ab}}
body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1.25rem;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem}a{color:var(--accent)}label{display:block;font-weight:600;margin-bottom:.25rem}
input{box-sizing:border-box;width:100%;min-height:44px;font:inherit;padding:.5rem .75rem;border:1px solid #7a857f;border-radius:8px;color:inherit;background:transparent}
button{min-height:44px;width:100%;margin-top:1rem;font:inherit;font-weight:600;border:0;border-radius:8px;color:var(--on);background:var(--accent);cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}.fault{color:var(--fault)}`
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')
/** The token is in the address, so no other page may learn the address. */
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

export function authPage(title: string, body: string): string {
  return `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(title)} · Catraca</title><style>${STYLE}</style></head>
<body><main><h1>${escapeHtml(title)}</h1>
${body}</main></body></html>`
}

export function sendAuthPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return sendPrivatePage(reply, status, html, { policy: POLICY, referrerPolicy: 'same-origin' })
}

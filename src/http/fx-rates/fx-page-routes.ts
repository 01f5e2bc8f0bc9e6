/** `GET /cambio`: which exchange rate was applied when, as a page. It has no script and loads nothing. */
import { hiddenRoute } from '../rest/route.ts'
import { sendStaticPage } from '../rest/send-page.ts'
import { listAppliedRates, type AppliedRate } from '../../money/fx/applied-rates.ts'
import { escapeHtml } from '../../platform/lib/html.ts'
import { decimalE4 } from '../../platform/lib/money.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'config' | 'db'>

/** About three months of business days. */
const RATES_SHOWN = 60
const MAX_AGE_SECONDS = 60

export const fxPageRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/cambio',
    access: 'public',
    async handle(_request, reply, deps: Deps) {
      const rates = await listAppliedRates(deps.db, deps.config.mode, { limit: RATES_SHOWN })
      return sendStaticPage(reply, renderPage(rates, deps.config.mode), {
        maxAgeSeconds: MAX_AGE_SECONDS,
      })
    },
  }),
]

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code{font:0.9em ui-monospace,monospace}table{border-collapse:collapse;width:100%}
td,th{border-bottom:1px solid #8886;padding:.3rem .6rem;text-align:left}td:first-child{font-variant-numeric:tabular-nums}
.aviso{border:1px solid #b80;padding:.5rem 1rem}`

const SANDBOX_NOTICE = `<p class="aviso"><strong>Ambiente de testes (sandbox).</strong> As taxas abaixo são fictícias: não vêm do
Banco Central e nenhum valor cobrado com elas é dinheiro de verdade.</p>`

function renderPage(rates: readonly AppliedRate[], mode: Deps['config']['mode']): string {
  const rows = rates.map(renderRate).join('\n')
  return `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Câmbio aplicado</title><style>${STYLE}</style></head><body>
<h1>Câmbio aplicado</h1>${mode === 'sandbox' ? SANDBOX_NOTICE : ''}
<p>O custo de cada chamada é em dólares. O valor cobrado em reais é esse custo vezes a taxa em vigor no início da chamada,
vezes o multiplicador do modelo. A taxa é a PTAX de venda, de fechamento, do Banco Central do Brasil, do último dia útil
publicado. Cada cobrança em <code>GET /v1/usage/events</code> diz com que taxa foi feita.</p>
<table><thead><tr><th>R$ por US$</th><th>Data da taxa</th><th>Fonte</th><th>Boletim</th><th>Aplicada de</th><th>Até</th></tr></thead>
<tbody>${rows || '<tr><td colspan="6">Nenhuma taxa registrada ainda.</td></tr>'}</tbody></table>
<p>Horários de Brasília; as ${RATES_SHOWN} taxas mais novas. Todas, para programas: <a href="/v1/fx-rates"><code>/v1/fx-rates</code></a>.</p>
</body></html>`
}

function renderRate(rate: AppliedRate): string {
  const cells = [
    writeRate(rate.rateE4),
    rate.rateDate.split('-').toReversed().join('/'),
    escapeHtml(sourceOf(rate)),
    writeTime(rate.bulletinAt) ?? '–',
    writeTime(rate.appliedFrom) ?? 'não aplicada',
    rate.appliedFrom === null ? '–' : (writeTime(rate.appliedUntil) ?? 'em vigor'),
  ]
  return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
}

/** All four decimals, with a comma. */
function writeRate(rateE4: bigint): string {
  const [whole, fraction = ''] = decimalE4(rateE4).split('.')
  return `${whole},${fraction.padEnd(4, '0')}`
}

function sourceOf({ isSandbox, source }: AppliedRate): string {
  if (isSandbox) return 'sandbox (fictícia)'
  if (source === 'manual') return 'registrada pelo operador'
  return source.startsWith('bcb_') ? 'PTAX, Banco Central do Brasil' : source
}

function writeTime(at: Date | null): string | undefined {
  return at?.toLocaleString('pt-BR', { timeZone: 'America/Sao_Paulo' })
}

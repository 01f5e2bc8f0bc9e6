/** `/cambio`: which exchange rate was applied when. */
import type { AppliedRate } from '../../money/fx/applied-rates.ts'
import { language, t } from '../../platform/lib/language.ts'
import { html, type Html } from '../../platform/lib/html.ts'
import { decimalE4 } from '../../platform/lib/money.ts'
import { formatDay } from '../../deliveries/email/formats.ts'
import { point } from './amounts.ts'
import { layout, type SiteDeps } from './layout.ts'
import { RATES_SHOWN, type SiteFacts } from './site-facts.ts'

const COLUMNS = ['R$ por US$', 'Data da taxa', 'Fonte', 'Boletim', 'Aplicada de', 'Até']
/** Not on phones. */
const WIDE = new Set(['Fonte', 'Boletim'])

export function fxPage({ reading: { rates } }: SiteFacts, deps: SiteDeps): Html {
  return layout(
    {
      path: '/cambio',
      title: t('Câmbio aplicado · Catraca'),
      description: t('A taxa de câmbio aplicada a cada chamada: a PTAX de venda do Banco Central.'),
      main: html`<div class="wrap">
        <h1>Câmbio aplicado</h1>
        ${
          deps.config.mode === 'sandbox' &&
          html`<p class="notice">
            <strong>Modo de teste.</strong> As taxas abaixo são fictícias: não vêm do Banco Central,
            e nenhum valor cobrado com elas é dinheiro de verdade.
          </p>`
        }
        <p class="lead">
          O custo de cada chamada é em dólares. O valor cobrado em reais é esse custo vezes a taxa
          em vigor no início da chamada, vezes o multiplicador do modelo.
        </p>
        <p>
          A taxa é a PTAX de venda, de fechamento, do Banco Central do Brasil, do último dia útil
          publicado. Cada cobrança em <code>GET /v1/usage/events</code> diz com que taxa foi feita.
        </p>
        ${rates.length === 0 ? html`<p class="muted">Nenhuma taxa registrada ainda.</p>` : rateTable(rates)}
        <p class="small muted">
          Horários de Brasília; as ${RATES_SHOWN} taxas mais novas. Todas, para programas:
          <a href="/v1/fx-rates"><code>/v1/fx-rates</code></a
          >.
        </p>
      </div>`,
    },
    deps,
  )
}

function rateTable(rates: readonly AppliedRate[]): Html {
  return html`<div class="scroll" role="region" aria-label="Taxas aplicadas" tabindex="0">
    <table>
      <thead>
        <tr>
          ${COLUMNS.map((name) =>
            WIDE.has(name)
              ? html`<th scope="col" class="wide">${t(name)}</th>`
              : html`<th scope="col">${t(name)}</th>`,
          )}
        </tr>
      </thead>
      <tbody>
        ${rates.map(
          (rate) =>
            html`<tr>
              ${cellsOf(rate).map((cell, place) =>
                WIDE.has(COLUMNS[place] ?? '')
                  ? html`<td class="wide">${cell}</td>`
                  : html`<td>${cell}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function cellsOf(rate: AppliedRate): string[] {
  return [
    writeRate(rate.rateE4),
    formatDay(rate.rateDate) ?? rate.rateDate,
    sourceOf(rate),
    writeTime(rate.bulletinAt) ?? '–',
    writeTime(rate.appliedFrom) ?? t('não aplicada'),
    rate.appliedFrom === null ? '–' : (writeTime(rate.appliedUntil) ?? t('em vigor')),
  ]
}

/** All four decimals. */
function writeRate(rateE4: bigint): string {
  const [whole, fraction = ''] = decimalE4(rateE4).split('.')
  return `${whole}${point()}${fraction.padEnd(4, '0')}`
}

function sourceOf({ isSandbox, source }: AppliedRate): string {
  if (isSandbox) return t('sandbox (fictícia)')
  if (source === 'manual') return t('registrada pelo operador')
  return source.startsWith('bcb_') ? t('PTAX, Banco Central do Brasil') : source
}

function writeTime(at: Date | null): string | undefined {
  return at?.toLocaleString(language(), {
    timeZone: 'America/Sao_Paulo',
    ...(language() === 'en-US' ? { dateStyle: 'medium', timeStyle: 'medium' } : {}),
  })
}

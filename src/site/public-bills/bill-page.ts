/** `/conta/<token>`: a bill for those who have its address. A script checks it in their browser. */
import { brlText } from '../../platform/lib/brl-text.ts'
import { language, t } from '../../platform/lib/language.ts'
import { dataBlock, html, type Html } from '../../platform/lib/html.ts'
import { formatDay } from '../../deliveries/email/formats.ts'
import { multiplierText, rateText, usdText, wholeCount } from '../pages/amounts.ts'
import { layout, type SiteDeps } from '../pages/layout.ts'
import type { ShownBillBody } from './shown-bill-routes.ts'

const BRASILIA = { timeStyle: 'medium', timeZone: 'America/Sao_Paulo' } as const
const AT = {
  'pt-BR': new Intl.DateTimeFormat('pt-BR', { ...BRASILIA, dateStyle: 'short' }),
  'en-US': new Intl.DateTimeFormat('en-US', { ...BRASILIA, dateStyle: 'medium' }),
}

export function billPage(bill: ShownBillBody, deps: SiteDeps): Html {
  const charges = bill.charges.map(readCharge)
  const total = charges.reduce((sum, { billedNanoBrl }) => sum + billedNanoBrl, 0n)
  const isSession = bill.kind === 'session'
  const kind = isSession ? t('Cobranças de uma sessão') : t('Cobrança de uma chamada')
  return layout(
    {
      path: '/verificar',
      title: t`${kind} de IA: ${brlText(total)} · Catraca`,
      description: t(
        'Quanto custou, em dólares e em reais, com o câmbio e o multiplicador de cada chamada, e a prova de que nada mudou.',
      ),
      isIndexed: false,
      script: deps.webApp.findScript('bill'),
      main: html`<div class="wrap">
        <p class="crumbs">${kind}</p>
        <h1>${brlText(total)}</h1>
        <p class="lead">
          ${
            charges.length === 1
              ? t('Uma cobrança, mostrada por quem pagou.')
              : t`${wholeCount(charges.length)} cobranças, mostradas por quem pagou.`
          }
          Cada valor é o preço do fabricante, em dólares, vezes o câmbio, vezes o multiplicador do
          modelo.
        </p>
        ${
          bill.has_more &&
          html`<p class="muted">
            A sessão tem mais cobranças. Esta página mostra as ${wholeCount(charges.length)}
            primeiras.
          </p>`
        }
        ${chargeTable(charges)} ${proof()} ${dataBlock('application/json', bill, 'conta')}
      </div>`,
    },
    deps,
  )
}

function chargeTable(charges: readonly PublicCharge[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Cobranças">
    <table>
      <thead>
        <tr>
          <th scope="col">Modelo</th>
          <th scope="col" class="num">Tokens</th>
          <th scope="col" class="num">Custo</th>
          <th scope="col" class="num">Câmbio</th>
          <th scope="col" class="num">Multiplicador</th>
          <th scope="col" class="num">Cobrado</th>
        </tr>
      </thead>
      <tbody>
        ${charges.map(
          (charge) =>
            html`<tr>
              <th scope="row">
                ${charge.modelId}<code>${AT[language()].format(charge.createdAt)}</code>${
                  charge.correctsId !== null && html`<span class="tag">correção</span>`
                }
              </th>
              <td class="num">
                ${wholeCount(charge.promptTokens)} + ${wholeCount(charge.completionTokens)}
              </td>
              <td class="num">${signed(charge.costPicoUsd, usdText)}</td>
              <td class="num">
                ${rateText(charge.fxRateE4)}<br /><span class="muted small"
                  >${rateSource(charge)}</span
                >
              </td>
              <td class="num">${multiplierText(charge.markupE4)}</td>
              <td class="num"><strong>${brlText(charge.billedNanoBrl)}</strong></td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** The reversal of a charge has negative amounts. */
function signed(amount: bigint, text: (amount: bigint) => string): string {
  return amount < 0n ? `-${text(-amount)}` : text(amount)
}

function rateSource({ fxSource, fxRateDate }: PublicCharge): string {
  const day = formatDay(fxRateDate) ?? fxRateDate
  if (fxSource === 'sandbox') return t`taxa fictícia do modo de teste de ${day}`
  return fxSource === 'manual' ? t`informado em ${day}` : t`PTAX de ${day}`
}

/** The script writes its findings here. */
function proof(): Html {
  return html`<h2 class="gap">A conta confere?</h2>
    <p id="resultado" role="status">
      Seu navegador refaz a conta e procura cada cobrança no livro público. Para isso, esta página
      precisa de JavaScript.
    </p>
    <ul id="passos"></ul>
    <p class="muted small">
      Não precisa acreditar em nós: <a href="/verificar">veja como conferir por conta própria</a>,
      com os selos que publicamos a cada dia.
    </p>`
}

/** A charge as its text in the chain has it (`charge_text` in `ledger/sql/seals.sql`). */
interface PublicCharge {
  readonly id: string
  readonly modelId: string
  readonly createdAt: Date
  readonly settledAt: string
  readonly promptTokens: number
  readonly completionTokens: number
  readonly costPicoUsd: bigint
  readonly fxRateE4: bigint
  readonly markupE4: bigint
  readonly billedNanoBrl: bigint
  readonly correctsId: string | null
  readonly fxRateDate: string
  readonly fxSource: string
}

interface ChargeText {
  readonly id: string
  readonly model_id: string
  readonly created_at: string
  readonly settled_at: string
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly cost_upstream_pico_usd: string
  readonly fx_rate_e4: number
  readonly markup_e4: number
  readonly cost_billed_nano_brl: string
  readonly corrects_id: string | null
}

function readCharge(
  charge: Pick<ShownBillBody['charges'][number], 'text' | 'fx_rate_date' | 'fx_rate_source'>,
): PublicCharge {
  const text = JSON.parse(charge.text as string) as ChargeText
  return {
    id: text.id,
    modelId: text.model_id,
    createdAt: new Date(text.created_at),
    settledAt: text.settled_at,
    promptTokens: text.prompt_tokens,
    completionTokens: text.completion_tokens,
    costPicoUsd: BigInt(text.cost_upstream_pico_usd),
    fxRateE4: BigInt(text.fx_rate_e4),
    markupE4: BigInt(text.markup_e4),
    billedNanoBrl: BigInt(text.cost_billed_nano_brl),
    correctsId: text.corrects_id,
    fxRateDate: String(charge.fx_rate_date),
    fxSource: String(charge.fx_rate_source),
  }
}

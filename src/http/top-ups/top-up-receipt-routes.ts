import type { FastifyReply } from 'fastify'
import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { findProfile, type Profile } from '../../customers/profiles.ts'
import { findTopUp, type TopUp } from '../../money/payments/top-ups.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { sendPrivatePage } from '../rest/send-page.ts'
import { documentLines, sendPdf, senderLines } from '../rest/send-pdf.ts'
import { formatBrl, formatTime } from '../../deliveries/email/formats.ts'
import type { MailSender } from '../../deliveries/email/mail-sender.ts'
import { escapeHtml } from '../../platform/lib/html.ts'
import { decimalBrl, type NanoBrl } from '../../platform/lib/money.ts'
import { formatTaxId } from '../../platform/lib/tax-id.ts'

/** The receipt of a top-up, for its payer's accounts: it shows the whole CPF or CNPJ. */
interface Receipt {
  readonly topUp: TopUp & { readonly paidAt: Date }
  /** Undefined if the customer no longer has a profile. */
  readonly payer: Pick<Profile, 'full_name' | 'tax_id'> | undefined
  readonly timezone: string | undefined
  readonly sender: Pick<MailSender, 'company' | 'isSandbox'>
  /** The time at which the receipt is rendered. */
  readonly at: Date
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;color:#111;background:#fff}
h1{font-size:1.4rem}a{color:#0f5b40}dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.4rem 1.5rem}dt{color:#444}
dd{margin:0;font-weight:600;overflow-wrap:anywhere}footer,.note{font-size:.875rem;color:#444;border-top:1px solid #999;padding-top:.5rem}
@media (max-width:30rem){dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin-bottom:.6rem}}
@media print{body{margin:0}nav{display:none}}`

const TIMEZONE = 'America/Sao_Paulo'

/** What HTML and PDF say alike. */
function partsOf({ topUp, payer, timezone, sender, at }: Receipt) {
  const zone = timezone ?? TIMEZONE
  const time = (date: Date): string => `${formatTime(date, zone)} (${zone})`
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Valor pago', amount(topUp.amountNanoBrl)],
    ['Devolvido', topUp.returnedNanoBrl > 0n ? amount(topUp.returnedNanoBrl) : undefined],
    ['Forma de pagamento', methodOf(topUp)],
    ['Pago em', time(topUp.paidAt)],
    ['Situação', SITUATIONS[topUp.status]],
    ['Pagador', payer?.full_name],
    ['CPF/CNPJ', payer && formatTaxId(payer.tax_id)],
    ['Recarga', topUp.id],
    ['Pagamento', topUp.processorPaymentId ?? undefined],
  ]
  const notes = [
    ...(sender.isSandbox
      ? ['Modo sandbox: empresa e valores são fictícios, e nada foi cobrado.']
      : []),
    'Recarga de saldo pré-pago. Este recibo não é documento fiscal.',
    `Emitido em ${time(at)}.`,
  ]
  return {
    facts: facts.flatMap(([label, value]) =>
      value === undefined ? [] : [[label, value] as const],
    ),
    notes,
  }
}

/** One page that prints on one sheet. It has no script and loads nothing. */
function renderReceipt(receipt: Receipt): string {
  const { topUp, sender } = receipt
  const { facts, notes } = partsOf(receipt)
  const rows = facts.map(
    ([label, value]) => `<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`,
  )
  return `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Recibo da recarga ${escapeHtml(topUp.id)}</title><style>${STYLE}</style></head><body>
<nav aria-label="Recibo"><a href="/recargas">Voltar às recargas</a> · <a href="receipt.pdf">Baixar em PDF</a></nav><main>
<h1>Recibo de recarga</h1><dl>${rows.join('\n')}</dl>
${notes.map((note) => `<p class="note">${escapeHtml(note)}</p>`).join('\n')}</main>
<footer>${senderLines(sender).map(escapeHtml).join('<br>')}</footer></body></html>
`
}

const SITUATIONS: Readonly<Partial<Record<TopUp['status'], string>>> = {
  paid: 'Paga',
  refund_pending: 'Paga, com devolução em andamento',
  partially_refunded: 'Devolvida em parte',
  refunded: 'Devolvida',
  chargeback: 'Contestada',
}

function methodOf({ method, card }: TopUp): string {
  if (!card) return method === 'pix' ? 'Pix' : 'Boleto'
  return `Cartão ${card.brand ?? ''} final ${card.lastFour}`.replace(/ {2,}/, ' ')
}

function amount(nano: NanoBrl): string {
  return formatBrl(decimalBrl(nano)) ?? ''
}

type Deps = Pick<HttpParts, 'db' | 'sender'>

const common = {
  method: 'GET',
  tag: 'Recargas',
  access: 'account',
  params: { id: Type.String() },
  refusals: { 404: ['topup_not_found'], 409: ['topup_not_paid'] },
} as const

export const topUpReceiptRoutes = [
  restRoute({
    ...common,
    path: '/topups/:id/receipt',
    summary: 'O recibo de uma recarga paga, uma página para imprimir',
    answer: 'text/html',
    async handle({ caller, params, reply }, deps: Deps) {
      const page = renderReceipt(await readReceipt(deps, caller.customerId, params.id))
      return sendPrivatePage(reply, 200, page, { policy: POLICY, referrerPolicy: 'same-origin' })
    },
  }),
  restRoute({
    ...common,
    path: '/topups/:id/receipt.pdf',
    summary: 'O recibo de uma recarga paga, em PDF',
    answer: 'application/pdf',
    async handle({ caller, params, reply }, deps: Deps): Promise<FastifyReply> {
      const receipt = await readReceipt(deps, caller.customerId, params.id)
      const { facts, notes } = partsOf(receipt)
      return sendPdf(reply, `recibo-${receipt.topUp.id}`, {
        title: 'Recibo de recarga',
        lines: [
          ...facts.map(([label, value], index) => ({
            text: `${label}: ${value}`,
            isRuled: index === 0,
          })),
          ...documentLines(notes, deps.sender),
        ],
      })
    },
  }),
]

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

async function readReceipt({ db, sender }: Deps, customerId: string, id: string): Promise<Receipt> {
  const topUp = await findTopUp(db, customerId, id)
  if (!topUp) throw new RestRefusal(404, 'topup_not_found')
  const { paidAt } = topUp
  if (!paidAt) throw new RestRefusal(409, 'topup_not_paid')
  const customer = await findCustomer(db, customerId)
  const payer = await findProfile(db, customerId)
  return {
    topUp: { ...topUp, paidAt },
    payer,
    timezone: customer?.timezone,
    sender,
    at: new Date(),
  }
}

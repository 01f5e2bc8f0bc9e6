import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { findProfile, type Profile } from '../../customers/profiles.ts'
import { findTopUp, type TopUp } from '../../money/payments/top-ups.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { formatBrl, formatCnpj, formatTime } from '../../deliveries/email/formats.ts'
import type { MailSender } from '../../deliveries/email/mail-sender.ts'
import { escapeHtml } from '../../platform/lib/html.ts'
import { decimalBrl, type NanoBrl } from '../../platform/lib/money.ts'
import { maskTaxId } from '../../platform/lib/tax-id.ts'

/** The receipt of a top-up: one page that prints on one sheet. It has no script and loads nothing. */
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
h1{font-size:1.4rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.4rem 1.5rem}dt{color:#444}
dd{margin:0;font-weight:600;overflow-wrap:anywhere}footer,.note{font-size:.875rem;color:#444;border-top:1px solid #999;padding-top:.5rem}
@media print{body{margin:0}}`

const TIMEZONE = 'America/Sao_Paulo'

function renderReceipt({ topUp, payer, timezone, sender, at }: Receipt): string {
  const { company, isSandbox } = sender
  const zone = timezone ?? TIMEZONE
  const time = (date: Date): string => `${formatTime(date, zone)} (${zone})`
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Valor pago', amount(topUp.amountNanoBrl)],
    ['Devolvido', topUp.returnedNanoBrl > 0n ? amount(topUp.returnedNanoBrl) : undefined],
    ['Forma de pagamento', methodOf(topUp)],
    ['Pago em', time(topUp.paidAt)],
    ['Situação', SITUATIONS[topUp.status]],
    ['Pagador', payer?.full_name],
    ['CPF/CNPJ', payer && maskTaxId(payer.tax_id)],
    ['Recarga', topUp.id],
    ['Pagamento', topUp.processorPaymentId ?? undefined],
  ]
  const rows = facts.flatMap(([label, value]) =>
    value === undefined ? [] : [`<dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd>`],
  )
  const notes = [
    ...(isSandbox ? ['Modo sandbox: empresa e valores são fictícios, e nada foi cobrado.'] : []),
    'Recarga de saldo pré-pago. Este recibo não é documento fiscal.',
    `Emitido em ${time(at)}.`,
  ]
  const lines = [
    `${company.name}, CNPJ ${formatCnpj(company.cnpj)}`,
    company.address,
    `Contato: ${company.contactEmail}`,
  ]
  return `<!doctype html><html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Recibo da recarga ${escapeHtml(topUp.id)}</title><style>${STYLE}</style></head><body><main>
<h1>Recibo de recarga</h1><dl>${rows.join('\n')}</dl>
${notes.map((note) => `<p class="note">${escapeHtml(note)}</p>`).join('\n')}</main>
<footer>${lines.map(escapeHtml).join('<br>')}</footer></body></html>
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

export const topUpReceiptRoutes = [
  restRoute({
    method: 'GET',
    path: '/topups/:id/receipt',
    tag: 'Recargas',
    summary: 'O recibo de uma recarga paga, uma página para imprimir',
    access: 'account',
    params: { id: Type.String() },
    answer: 'text/html',
    refusals: { 404: ['topup_not_found'], 409: ['topup_not_paid'] },
    async handle({ caller, params, reply }, deps: Deps) {
      const { customerId } = caller
      const topUp = await findTopUp(deps.db, customerId, params.id)
      if (!topUp) throw new RestRefusal(404, 'topup_not_found')
      const { paidAt } = topUp
      if (!paidAt) throw new RestRefusal(409, 'topup_not_paid')
      const customer = await findCustomer(deps.db, customerId)
      const page = renderReceipt({
        topUp: { ...topUp, paidAt },
        payer: await findProfile(deps.db, customerId),
        timezone: customer?.timezone,
        sender: deps.sender,
        at: new Date(),
      })
      return reply
        .type('text/html; charset=utf-8')
        .header(
          'content-security-policy',
          "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
        )
        .header('x-content-type-options', 'nosniff')
        .header('cache-control', 'no-store')
        .send(page)
    },
  }),
]

/** The page on which a test payment is "paid": HTML and a form, without scripts. */
import { writeBoletoLine } from './boleto-line.ts'
import { writePixPayload } from './draw-pix-code.ts'
import type { SandboxPayment } from './sandbox-records.ts'
import { slugOf } from './asaas-format.ts'

export type PageAct = 'pagar' | 'recusar' | 'vencer' | 'estornar' | 'contestar'

export const PAGE_ACTS: readonly string[] = ['pagar', 'recusar', 'vencer', 'estornar', 'contestar']

const STATUS_WORDS: Readonly<Record<SandboxPayment['status'], string>> = {
  PENDING: 'Aguardando pagamento',
  AWAITING_RISK_ANALYSIS: 'Em análise',
  CONFIRMED: 'Pagamento confirmado',
  RECEIVED: 'Pagamento recebido',
  OVERDUE: 'Vencida',
  REFUND_IN_PROGRESS: 'Estorno em andamento',
  REFUNDED: 'Estornada',
  CHARGEBACK_REQUESTED: 'Contestada (chargeback)',
}

const METHOD_WORDS: Readonly<Record<SandboxPayment['billingType'], string>> = {
  PIX: 'Pix',
  CREDIT_CARD: 'Cartão de crédito',
  BOLETO: 'Boleto',
  UNDEFINED: 'À escolha de quem paga',
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:0 auto;padding:1rem;
color:#1b1f24;background:#fff}.aviso{background:#fff3cd;border:1px solid #b58105;padding:.75rem 1rem;
border-radius:.5rem}dt{font-weight:600}dd{margin:0 0 .5rem}code{overflow-wrap:anywhere}
svg{width:16rem;height:16rem}button{font:inherit;padding:.6rem 1rem;margin:0 .5rem .5rem 0;
border:1px solid #1b1f24;border-radius:.5rem;background:#fff;color:inherit;cursor:pointer}
button.principal{background:#0b6b3a;border-color:#0b6b3a;color:#fff}
@media(prefers-color-scheme:dark){body{background:#14171a;color:#e8eaed}.aviso{background:#3b2f0b}
button{background:#14171a;border-color:#e8eaed}svg{background:#fff}}`

export async function renderPage(payment: SandboxPayment, refusal?: string): Promise<string> {
  const { amountCents, billingType, description, status, isDeleted } = payment
  const isOpen = !isDeleted && actsOf(payment).includes('pagar')
  return document(
    'Pagamento de teste',
    `${refusal === undefined ? '' : `<p class="aviso" role="alert">${escape(refusal)}</p>`}
<dl>
<dt>Situação</dt><dd>${isDeleted ? 'Cancelada' : STATUS_WORDS[status]}</dd>
<dt>Valor</dt><dd>${formatBrl(amountCents)}</dd>
<dt>Forma de pagamento</dt><dd>${METHOD_WORDS[billingType]}</dd>
<dt>Vencimento</dt><dd>${payment.dueDate.split('-').toReversed().join('/')}</dd>
<dt>Descrição</dt><dd>${escape(description ?? '—')}</dd>
</dl>
${isOpen ? await renderCode(payment) : ''}
<form method="post" action="/i/${slugOf(payment)}">
${actsOf(payment).map(renderButton).join('\n')}
</form>`,
  )
}

export function renderNotFound(): string {
  return document(
    'Pagamento não encontrado',
    `<p>Este ambiente de testes não conhece este pagamento. Se ele foi reiniciado sem guardar o seu
estado, os pagamentos anteriores deixaram de existir: crie uma nova recarga.</p>`,
  )
}

/** The acts that the payment's state allows. */
function actsOf({ status, billingType, isDeleted }: SandboxPayment): PageAct[] {
  if (isDeleted) return []
  if (status === 'PENDING') return ['pagar', 'vencer']
  if (status === 'OVERDUE') return ['pagar']
  if (status === 'AWAITING_RISK_ANALYSIS') return ['pagar', 'recusar']
  if (status !== 'CONFIRMED' && status !== 'RECEIVED') return []
  return billingType === 'BOLETO' ? [] : ['estornar', 'contestar']
}

function renderButton(act: PageAct): string {
  const words: Record<PageAct, string> = {
    pagar: 'Pagar (simulação)',
    recusar: 'Recusar na análise',
    vencer: 'Deixar vencer',
    estornar: 'Estornar tudo',
    contestar: 'Contestar (chargeback)',
  }
  const style = act === 'pagar' ? ' class="principal"' : ''
  return `<button name="acao" value="${act}"${style}>${words[act]}</button>`
}

async function renderCode(payment: SandboxPayment): Promise<string> {
  if (payment.billingType === 'PIX') {
    const payload = writePixPayload(payment)
    const { toString: drawSvg } = await import('qrcode')
    const svg = await drawSvg(payload, { type: 'svg', errorCorrectionLevel: 'M', margin: 2 })
    return `<div role="img" aria-label="QR Code do Pix">${svg}</div>
<p>Pix copia e cola: <code>${escape(payload)}</code></p>`
  }
  if (payment.billingType === 'BOLETO') {
    return `<p>Linha digitável: <code>${writeBoletoLine(payment).line}</code></p>`
  }
  return ''
}

function document(title: string, content: string): string {
  return `<!doctype html>
<html lang="pt-BR"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style></head>
<body><p class="aviso"><strong>Ambiente de testes (sandbox).</strong> Nenhum dinheiro de verdade
muda de mãos aqui.</p><main><h1>${title}</h1>
${content}
</main></body></html>
`
}

function formatBrl(cents: bigint): string {
  const digits = cents.toString().padStart(3, '0')
  const whole = digits.slice(0, -2).replaceAll(/\B(?=(\d{3})+$)/g, '.')
  return `R$ ${whole},${digits.slice(-2)}`
}

function escape(text: string): string {
  const words: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replaceAll(/[&<>"]/g, (character) => words[character] as string)
}

import type { BadgeTone } from '../../components/Badge.tsx'
import type { TopUp } from './top-up-queries.ts'

export const TOP_UP_STATUS: Readonly<Record<TopUp['status'], { text: string; tone: BadgeTone }>> = {
  pending: { text: 'Aguardando', tone: 'warning' },
  paid: { text: 'Pago', tone: 'success' },
  expired: { text: 'Vencido', tone: 'neutral' },
  canceled: { text: 'Cancelado', tone: 'neutral' },
  failed: { text: 'Não deu certo', tone: 'danger' },
  refund_pending: { text: 'Devolução em andamento', tone: 'warning' },
  partially_refunded: { text: 'Devolvido em parte', tone: 'neutral' },
  refunded: { text: 'Devolvido', tone: 'neutral' },
  chargeback: { text: 'Contestado', tone: 'danger' },
}

export function methodText({ method, card }: Pick<TopUp, 'method' | 'card'>): string {
  if (method === 'card' && card) return `Cartão ${cardText(card)}`
  return METHOD_WORDS[method]
}

export const METHOD_WORDS: Readonly<Record<TopUp['method'], string>> = {
  pix: 'Pix',
  card: 'Cartão',
  boleto: 'Boleto',
}

/** The usual name of a card: `Visa final 4242`. */
export function cardText({
  brand,
  last_four,
}: {
  readonly brand: string | null
  readonly last_four: string
}): string {
  const known = brand && brand !== 'UNKNOWN' ? (BRANDS[brand] ?? brand) : ''
  return `${known} final ${last_four}`.trim()
}

const BRANDS: Readonly<Record<string, string>> = {
  VISA: 'Visa',
  MASTERCARD: 'Mastercard',
  ELO: 'Elo',
  AMEX: 'American Express',
  DINERS: 'Diners Club',
  HIPERCARD: 'Hipercard',
}

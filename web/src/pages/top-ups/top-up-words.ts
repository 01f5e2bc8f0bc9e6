import type { BadgeTone } from '../../components/Badge.tsx'
import type { TopUp } from './top-up-queries.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

export const TOP_UP_STATUS = perLanguage(
  (): Readonly<Record<TopUp['status'], { text: string; tone: BadgeTone }>> => ({
    pending: { text: t('Aguardando'), tone: 'warning' },
    paid: { text: t('Pago'), tone: 'success' },
    expired: { text: t('Vencido'), tone: 'neutral' },
    canceled: { text: t('Cancelado'), tone: 'neutral' },
    failed: { text: t('Não deu certo'), tone: 'danger' },
    refund_pending: { text: t('Devolução em andamento'), tone: 'warning' },
    partially_refunded: { text: t('Devolvido em parte'), tone: 'neutral' },
    refunded: { text: t('Devolvido'), tone: 'neutral' },
    chargeback: { text: t('Contestado'), tone: 'danger' },
  }),
)

export function methodText({ method, card }: Pick<TopUp, 'method' | 'card'>): string {
  if (method === 'card' && card) return t('Cartão {card}', { card: cardText(card) })
  return METHOD_WORDS()[method]
}

export const METHOD_WORDS = perLanguage((): Readonly<Record<TopUp['method'], string>> => ({
  pix: 'Pix',
  card: t('Cartão'),
  boleto: t('Boleto'),
}))

/** The usual name of a card: `Visa final 4242`. */
export function cardText({
  brand,
  last_four,
}: {
  readonly brand: string | null
  readonly last_four: string
}): string {
  const known = brand && brand !== 'UNKNOWN' ? (BRANDS[brand] ?? brand) : ''
  return t('{known} final {lastFour}', { known, lastFour: last_four }).trim()
}

const BRANDS: Readonly<Record<string, string>> = {
  VISA: 'Visa',
  MASTERCARD: 'Mastercard',
  ELO: 'Elo',
  AMEX: 'American Express',
  DINERS: 'Diners Club',
  HIPERCARD: 'Hipercard',
}

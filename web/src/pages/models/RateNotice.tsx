import { Notice } from '../../components/Notice.tsx'
import { calendarDay } from '../../format/calendar-day.ts'
import { exactDecimal, scaledBy } from '../../format/exact-decimal.ts'
import type { Rate } from './catalog-query.ts'

/** The exchange rate of the prices, so that readers can verify them. */
export function RateNotice({ rate }: { readonly rate: Rate | null }) {
  if (!rate)
    return (
      <Notice tone="warning">
        Ainda não há taxa de câmbio e, sem ela, não há preços em reais. Volte em alguns minutos.
      </Notice>
    )
  const source = rate.is_sandbox ? 'taxa fictícia do modo de teste' : 'PTAX de venda'
  return (
    <Notice>
      Dólar a{' '}
      <strong className="tabular-nums">R$&nbsp;{exactDecimal(scaledBy(rate.rate, 4), 4, 4)}</strong>{' '}
      ({source}, {calendarDay(rate.rate_date)}), multiplicador já incluído. Preços por milhão de
      tokens.{' '}
      <a href="/cambio" className="underline underline-offset-4">
        Ver o câmbio aplicado
      </a>
    </Notice>
  )
}

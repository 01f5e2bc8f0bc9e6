import { Notice } from '../../components/Notice.tsx'
import { calendarDay } from '../../format/calendar-day.ts'
import { exactDecimal, scaledBy } from '../../format/exact-decimal.ts'
import type { Rate } from './catalog-query.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The exchange rate of the prices, so that readers can verify them. */
export function RateNotice({ rate }: { readonly rate: Rate | null }) {
  if (!rate)
    return (
      <Notice tone="warning">
        {t(
          'Ainda não há taxa de câmbio e, sem ela, não há preços em reais. Volte em alguns minutos.',
        )}
      </Notice>
    )
  const source = rate.is_sandbox ? t('taxa fictícia do modo de teste') : t('PTAX de venda')
  return (
    <Notice>
      <Trans
        id="Dólar a {strong} ({source}, {rateDate}), multiplicador já incluído. Preços por milhão de tokens. {link}"
        values={{
          strong: (
            <strong className="tabular-nums">
              <Trans
                id="R$&nbsp;{rate}"
                values={{ rate: exactDecimal(scaledBy(rate.rate, 4), 4, 4) }}
              />
            </strong>
          ),
          source,
          rateDate: calendarDay(rate.rate_date),
          link: (
            <a href="/cambio" className="underline underline-offset-4">
              {t('Ver o câmbio aplicado')}
            </a>
          ),
        }}
      />
    </Notice>
  )
}

import { useQuery } from '@tanstack/react-query'
import { brl } from '../../format/brl.ts'
import { usd } from '../../format/usd.ts'
import { rateQuery, type ApiKey } from './key-queries.ts'
import { BUDGET_PERIOD } from './key-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The spent share of the key's budget. */
export function KeyBudget({ budget }: Pick<ApiKey, 'budget'>) {
  const rate = useQuery({ ...rateQuery, enabled: budget !== null }).data ?? undefined
  if (budget === null) return <p className="text-sm text-muted">{t('Sem orçamento')}</p>
  const { limit_usd, spent_usd, period } = budget
  const shown = (amount: number): string => (rate === undefined ? usd(amount) : brl(amount * rate))
  const share = limit_usd > 0 ? Math.min(100, (spent_usd / limit_usd) * 100) : 100
  return (
    <div className="max-w-sm text-sm">
      <p className="tabular-nums">
        {shown(spent_usd)}{' '}
        <span className="text-muted">
          <Trans
            id="de {limitUsd} {span}"
            values={{
              limitUsd: shown(limit_usd),
              span: <span className="whitespace-nowrap">{BUDGET_PERIOD()[period]}</span>,
            }}
          />
        </span>
        {rate !== undefined && (
          <span className="block text-muted">
            <Trans
              id="{spentUsd} de {limitUsd}, à cotação de hoje"
              values={{ spentUsd: usd(spent_usd), limitUsd: usd(limit_usd) }}
            />
          </span>
        )}
      </p>
      {/* Decorative: the text above says the same. An SVG, because the content security policy refuses a width in a style attribute. */}
      <svg aria-hidden="true" className="mt-1.5 h-1.5 w-full rounded-full bg-sunken">
        <rect
          width={`${share}%`}
          height="100%"
          rx="3"
          className={share >= 90 ? 'fill-danger' : 'fill-accent'}
        />
      </svg>
    </div>
  )
}

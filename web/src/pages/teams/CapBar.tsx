import { classNames } from '../../lib/class-names.ts'
import { brl, readableBrl } from '../../format/brl.ts'
import type { Team } from './team-queries.ts'
import { t } from '../../language/t.ts'

/** From this percentage on the bar warns that the cap is near. */
const NEAR = 80

/** The team's spending this month against its cap. */
export function CapBar({ team }: { readonly team: Team }) {
  const { monthly_cap_brl: cap, spent_this_month_brl: spent, held_brl: held, remaining_brl } = team
  const share = cap === null ? 0 : Math.min(100, ((spent + held) / cap) * 100)
  return (
    <div className="text-sm">
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 tabular-nums">
        <span>
          <span className="text-base font-semibold">{readableBrl(spent)}</span>{' '}
          <span className="text-muted">
            {cap === null ? t('neste mês, sem limite') : t('de {cap} neste mês', { cap: brl(cap) })}
          </span>
        </span>
        {remaining_brl !== null && (
          <span className={remaining_brl === 0 ? 'font-medium text-danger' : 'text-muted'}>
            {remaining_brl === 0
              ? t('Limite atingido')
              : t('restam {remainingBrl}', { remainingBrl: readableBrl(remaining_brl) })}
          </span>
        )}
      </p>
      {cap !== null && (
        // Decorative: the text above says the same. An SVG, because the content security policy refuses a width
        // in a style attribute.
        <svg aria-hidden="true" className="mt-2 h-2 w-full rounded-full bg-sunken">
          <rect
            width={`${share}%`}
            height="100%"
            rx="4"
            className={classNames(
              share >= 100 ? 'fill-danger' : share >= NEAR ? 'fill-warning' : 'fill-accent',
            )}
          />
        </svg>
      )}
    </div>
  )
}

import { classNames } from '../../lib/class-names.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

const PERIODS = [7, 30]

export function PeriodSwitch({
  days,
  onChange,
}: {
  days: number
  onChange: (days: number) => void
}) {
  return (
    <div role="group" aria-label={t('Período')} className="inline-flex rounded-lg bg-sunken p-1">
      {PERIODS.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === days}
          onClick={() => onChange(each)}
          className={classNames(
            'min-h-11 rounded-md px-3 text-sm font-medium md:min-h-8',
            each === days ? 'bg-surface text-ink shadow-card' : 'text-muted hover:text-ink',
          )}
        >
          <Trans id="{each} dias" values={{ each }} />
        </button>
      ))}
    </div>
  )
}

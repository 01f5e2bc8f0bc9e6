import { Link } from '@tanstack/react-router'
import { dateTime } from '../../format/date.ts'
import { wholeNumber } from '../../format/number.ts'
import { refusalWords } from './refusal-words.ts'
import type { Refusals } from './usage-queries.ts'
import { t } from '../../language/t.ts'

interface Props {
  readonly reasons: Refusals['reasons']
  /** Undefined while one is chosen. */
  readonly onChoose: ((code: string) => void) | undefined
}

/** Each reason in plain words, with what to do next. */
export function RefusalReasons({ reasons, onChoose }: Props) {
  return (
    <div className="overflow-clip rounded-card border border-line bg-surface shadow-card">
      <table className="w-full text-sm">
        <caption className="sr-only">{t('Os motivos, o mais frequente primeiro')}</caption>
        <thead className="border-b border-line text-left text-xs text-muted">
          <tr>
            <th scope="col" className="px-4 py-3 font-medium">
              {t('Motivo e o que fazer')}
            </th>
            <th
              scope="col"
              className="px-4 py-3 text-right font-medium whitespace-nowrap max-md:hidden"
            >
              {t('Última vez')}
            </th>
            <th scope="col" className="px-4 py-3 text-right font-medium">
              {t('Vezes')}
            </th>
          </tr>
        </thead>
        <tbody>
          {reasons.map((reason) => (
            <ReasonRow
              key={`${reason.code} ${reason.status}`}
              reason={reason}
              onChoose={onChoose}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ReasonRow({
  reason,
  onChoose,
}: {
  readonly reason: Refusals['reasons'][number]
  readonly onChoose: Props['onChoose']
}) {
  const { title, advice, link } = refusalWords(reason.code)
  const last = dateTime(reason.last_at)
  return (
    <tr className="border-b border-line align-top last:border-b-0">
      <th scope="row" className="px-4 py-3 text-left font-normal">
        {onChoose ? (
          <button
            type="button"
            className="min-h-6 text-left font-medium text-accent underline-offset-4 hover:underline"
            onClick={() => onChoose(reason.code)}
          >
            {title}
          </button>
        ) : (
          <span className="font-medium">{title}</span>
        )}
        <span className="mt-0.5 block max-w-prose text-muted">
          {advice}{' '}
          {link && (
            <Link to={link.to} className="text-accent underline underline-offset-4">
              {link.text}
            </Link>
          )}
        </span>
        <span className="mt-1 block text-xs text-muted">
          <code className="wrap-anywhere">
            {reason.status} {reason.code}
          </code>
          <span className="block tabular-nums md:hidden">{t('última vez: {last}', { last })}</span>
        </span>
      </th>
      <td className="px-4 py-3 text-right whitespace-nowrap text-muted tabular-nums max-md:hidden">
        {last}
      </td>
      <td className="px-4 py-3 text-right font-medium tabular-nums">
        {wholeNumber(reason.refusals)}
      </td>
    </tr>
  )
}

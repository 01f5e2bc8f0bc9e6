import { exactBrl } from '../format/brl.ts'
import { Skeleton } from './Skeleton.tsx'

/** `=` and no sign: a balance, before or after what came (`+`) and went (`−`). */
export type SumLine = readonly [
  name: string,
  sign: '' | '+' | '−' | '=',
  /** Undefined while it loads: the line has its height already, so nothing below it moves. */
  amountBrl: number | undefined,
]

/** A sum with all digits, so that its lines add up. */
export function SumLines({ lines }: { readonly lines: readonly SumLine[] }) {
  return (
    <dl className="divide-y divide-line text-sm">
      {lines.map(([name, sign, amount]) => {
        const isBalance = sign === '' || sign === '='
        return (
          <div
            key={name}
            className={`flex flex-col gap-x-4 py-2 sm:flex-row sm:justify-between ${isBalance ? 'font-semibold' : ''}`}
          >
            <dt className={isBalance ? '' : 'text-muted'}>{name}</dt>
            <dd className="ml-auto whitespace-nowrap tabular-nums">
              {amount === undefined ? (
                <Skeleton className="h-5 w-24" />
              ) : (
                <>
                  <span aria-hidden="true" className="text-muted">
                    {amount === 0 && !isBalance ? '' : sign}
                  </span>{' '}
                  {exactBrl(amount)}
                </>
              )}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}

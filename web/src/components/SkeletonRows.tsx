import { Skeleton } from './Skeleton.tsx'
import { t } from '../language/t.ts'

/** A placeholder for a list that is loading; screen readers announce it once. */
export function SkeletonRows({
  rows = 4,
  label = t('Carregando…'),
}: {
  rows?: number
  label?: string
}) {
  return (
    <div role="status" className="flex flex-col gap-3">
      <span className="sr-only">{label}</span>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={row} className="h-9" />
      ))}
    </div>
  )
}

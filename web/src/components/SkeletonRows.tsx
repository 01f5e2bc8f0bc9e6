import { Skeleton } from './Skeleton.tsx'

/** In the place of a list that is being loaded; screen readers hear it once. */
export function SkeletonRows({
  rows = 4,
  label = 'Carregando…',
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

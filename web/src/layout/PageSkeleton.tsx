import { Skeleton } from '../components/Skeleton.tsx'

/** Shown while the code of a page loads. */
export function PageSkeleton() {
  return (
    <div role="status">
      <span className="sr-only">Carregando a página…</span>
      <Skeleton className="mb-8 h-8 w-48" />
      <Skeleton className="mb-4 h-32" />
      <Skeleton className="h-64" />
    </div>
  )
}

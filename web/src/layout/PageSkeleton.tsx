import { Skeleton } from '../components/Skeleton.tsx'
import { t } from '../language/t.ts'

/** Shown while the code of a page loads. */
export function PageSkeleton() {
  return (
    <div role="status">
      <span className="sr-only">{t('Carregando a página…')}</span>
      <Skeleton className="mb-8 h-8 w-48" />
      <Skeleton className="mb-4 h-32" />
      <Skeleton className="h-64" />
    </div>
  )
}

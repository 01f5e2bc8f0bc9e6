import { ErrorState } from '../components/ErrorState.tsx'
import { PageTitle } from '../components/PageTitle.tsx'
import { t } from '../language/t.ts'

/** Shown when a page throws or its code cannot be loaded (for example after an update of the service). */
export function PageError({ error }: { error: unknown }) {
  return (
    <>
      <PageTitle title={t('Esta página não abriu')} />
      <ErrorState
        error={error}
        onRetry={() => location.reload()}
        retryText={t('Recarregar a página')}
      />
    </>
  )
}

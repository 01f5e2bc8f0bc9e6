import { ErrorState } from '../components/ErrorState.tsx'
import { PageTitle } from '../components/PageTitle.tsx'

/** Where a page itself fails, or its code could not be loaded (after an update of the service, say). */
export function PageError({ error }: { error: unknown }) {
  return (
    <>
      <PageTitle title="Esta página não abriu" />
      <ErrorState error={error} onRetry={() => location.reload()} />
    </>
  )
}

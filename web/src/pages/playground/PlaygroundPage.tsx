import { useQuery } from '@tanstack/react-query'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { sessionQuery, type Session } from '../../api/session.ts'
import { Card } from '../../components/Card.tsx'
import { PlaygroundDesk } from './PlaygroundDesk.tsx'
import { loadRichText } from './RichText.tsx'
import { usePlayground } from './use-playground.ts'
import { t } from '../../language/t.ts'

void loadRichText()

export function PlaygroundPage() {
  const { data: session } = useQuery(sessionQuery)
  // Remounts for another customer.
  return session ? <Loaded key={session.customer.id} session={session} /> : null
}

function Loaded({ session }: { readonly session: Session }) {
  const { view, catalog, paying } = usePlayground(session)
  if (catalog.data && paying.data) return <PlaygroundDesk view={view} />
  const failed = [catalog, paying].find(({ isError }) => isError)
  return (
    <>
      <PageTitle title={t('Playground')} />
      {failed ? (
        <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />
      ) : (
        <Card>
          <SkeletonRows rows={8} label={t('Carregando o playground')} />
        </Card>
      )}
    </>
  )
}

/** Around pages that anybody may see, and that customers see with their navigation. */
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../api/session.ts'
import { AppLayout } from './AppLayout.tsx'
import { PageSkeleton } from './PageSkeleton.tsx'
import { PublicLayout } from './PublicLayout.tsx'

export function EitherLayout() {
  const session = useQuery(sessionQuery)
  if (session.isPending) return <PageSkeleton />
  return session.data ? <AppLayout /> : <PublicLayout />
}

/** The layout of public pages that signed-in customers see with their navigation. */
import { useQuery } from '@tanstack/react-query'
import { sessionQuery } from '../api/session.ts'
import { AppLayout } from './AppLayout.tsx'
import { PageSkeleton } from './PageSkeleton.tsx'
import { PublicFrame } from './PublicFrame.tsx'
import { PublicLayout } from './PublicLayout.tsx'
import { useLanguage } from '../language/use-language.ts'

export function EitherLayout() {
  useLanguage()
  const session = useQuery(sessionQuery)
  if (session.isPending)
    return (
      <PublicFrame>
        <PageSkeleton />
      </PublicFrame>
    )
  return session.data ? <AppLayout /> : <PublicLayout />
}

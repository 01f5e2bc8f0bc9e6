import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { cacheOwner } from '../api/cache-owner.ts'
import type { Session } from '../api/session.ts'

/** Goes to the sign-in page after a sign-out, here or in another tab. The next user has nothing to go back to. */
export function useLeaveWhenSignedOut(session: Session | null | undefined): void {
  const router = useRouter()
  useEffect(() => {
    if (session !== null || cacheOwner() !== undefined) return
    // Read once and not subscribed to, so that a user who is already on the way to the sign-in page is not
    // redirected again.
    if (router.latestLocation.pathname === '/entrar') return
    void router.navigate({ to: '/entrar', replace: true, ignoreBlocker: true })
  }, [session, router])
}

import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Session } from '../api/session.ts'

/**
 * Goes to the sign-in page, and back after it, when the login session ends while a page is open (a 401 of any
 * call).
 */
export function useSignInWhenSignedOut(session: Session | null | undefined): void {
  const router = useRouter()
  useEffect(() => {
    if (session !== null) return
    // Read once and not subscribed to, so that a user who is already on the way to the sign-in page is not
    // redirected again.
    const { pathname, href } = router.latestLocation
    if (pathname === '/entrar') return
    void router.navigate({ to: '/entrar', search: { voltar: href }, replace: true })
  }, [session, router])
}

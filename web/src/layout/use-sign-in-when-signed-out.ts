import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { Session } from '../api/session.ts'

/** A session that ends while a page is open (a 401 of any call) leads to the sign-in, and back after it. */
export function useSignInWhenSignedOut(session: Session | null | undefined): void {
  const router = useRouter()
  useEffect(() => {
    if (session !== null) return
    // Read now and not followed: whoever is on the way to the sign-in already is not sent there again.
    const { pathname, href } = router.latestLocation
    if (pathname === '/entrar') return
    void router.navigate({ to: '/entrar', search: { voltar: href }, replace: true })
  }, [session, router])
}

import { redirect, type ParsedLocation } from '@tanstack/react-router'
import { queryClient } from './api/query-client.ts'
import { sessionQuery, type Session } from './api/session.ts'

/** The login session; users without one are sent to the sign-in page and back. */
export async function sessionOrSignIn({ href }: ParsedLocation): Promise<Session> {
  const session = await queryClient.ensureQueryData(sessionQuery)
  if (session) return session
  throw redirect({ to: '/entrar', search: href === '/' ? {} : { voltar: href }, replace: true })
}

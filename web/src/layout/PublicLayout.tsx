/** The layout of pages that need no account: sign-in, sign-up, service status. */
import { Outlet } from '@tanstack/react-router'
import { PublicFrame } from './PublicFrame.tsx'

export function PublicLayout() {
  return (
    <PublicFrame>
      <Outlet />
    </PublicFrame>
  )
}

/** Around the pages that need no account: sign-in, sign-up, the state of the service. */
import { Outlet } from '@tanstack/react-router'
import { PublicFrame } from './PublicFrame.tsx'

export function PublicLayout() {
  return (
    <PublicFrame>
      <Outlet />
    </PublicFrame>
  )
}

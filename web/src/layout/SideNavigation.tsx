import { Link } from '@tanstack/react-router'
import type { Session } from '../api/session.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { Logo } from './Logo.tsx'
import { NavigationLinks } from './NavigationLinks.tsx'

export function SideNavigation({ session }: { session: Session }) {
  return (
    <header className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-surface md:flex">
      <Link to="/" className="m-3 rounded-lg px-2 py-2" aria-label="Catraca: início">
        <Logo />
      </Link>
      <nav aria-label="Principal" className="flex-1 overflow-y-auto px-3 py-2">
        <NavigationLinks />
      </nav>
      <div className="border-t border-line p-3">
        <AccountMenu session={session} />
      </div>
    </header>
  )
}

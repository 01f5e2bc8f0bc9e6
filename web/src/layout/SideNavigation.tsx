import { Link } from '@tanstack/react-router'
import type { Session } from '../api/session.ts'
import { AccountMenu } from './AccountMenu.tsx'
import { BalanceLink } from './BalanceLink.tsx'
import { Logo } from './Logo.tsx'
import type { MenuEntry } from './menu.ts'
import { NavigationLinks } from './NavigationLinks.tsx'
import { SearchButton } from './SearchButton.tsx'
import { t } from '../language/t.ts'

interface SideNavigationProps {
  readonly session: Session
  readonly menu: readonly MenuEntry[]
  readonly area: string | undefined
  readonly onSearch: () => void
}

export function SideNavigation({ session, menu, area, onSearch }: SideNavigationProps) {
  return (
    <header className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-surface md:flex">
      <div className="m-3 flex items-center justify-between low:my-1 lower:my-0">
        <Link to="/" className="flex rounded-lg px-2 py-2" aria-label={t('Catraca: início')}>
          <Logo />
        </Link>
        <SearchButton onClick={onSearch} />
      </div>
      <nav
        aria-label={area ?? t('Principal')}
        className="flex-1 overflow-y-auto px-3 py-2 low:py-0"
      >
        {area !== undefined && (
          <p className="px-3 pb-2 text-xs font-semibold tracking-wide text-muted uppercase">
            {area}
          </p>
        )}
        <NavigationLinks menu={menu} />
      </nav>
      <div className="border-t border-line p-3 low:py-1 lower:py-0">
        {area === undefined && <BalanceLink />}
        <AccountMenu session={session} isAdminArea={area !== undefined} />
      </div>
    </header>
  )
}

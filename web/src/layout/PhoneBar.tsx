/** The bar at the bottom of a phone: the main pages, and a sheet with all others. */
import { Link } from '@tanstack/react-router'
import { Menu } from 'lucide-react'
import { useState } from 'react'
import type { Session } from '../api/session.ts'
import { Dialog } from '../components/Dialog.tsx'
import { AccountPanel } from './AccountPanel.tsx'
import { BalanceLink } from './BalanceLink.tsx'
import type { MenuEntry } from './menu.ts'
import { NavigationLinks } from './NavigationLinks.tsx'
import { t } from '../language/t.ts'

const ITEM =
  'flex min-h-14 w-full flex-col items-center justify-center gap-1 px-1 text-[0.6875rem] font-medium'

interface PhoneBarProps {
  readonly session: Session
  readonly menu: readonly MenuEntry[]
  readonly area: string | undefined
}

export function PhoneBar({ session, menu, area }: PhoneBarProps) {
  const [isOpen, setIsOpen] = useState(false)
  const close = (): void => setIsOpen(false)
  return (
    <>
      <nav
        aria-label={area ?? t('Principal')}
        className="fixed inset-x-0 bottom-0 z-40 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] md:hidden"
      >
        <ul className="flex">
          {menu
            .filter(({ isOnPhoneBar }) => isOnPhoneBar)
            .map(({ to, label, icon: Icon }) => (
              <li key={to} className="min-w-0 flex-1">
                <Link
                  to={to}
                  activeOptions={{ exact: to === '/' || to === '/admin' }}
                  className={ITEM}
                  activeProps={{ className: 'text-accent' }}
                  inactiveProps={{ className: 'text-muted' }}
                >
                  <Icon aria-hidden="true" className="size-5" />
                  {label}
                </Link>
              </li>
            ))}
          <li className="min-w-0 flex-1">
            <button
              type="button"
              aria-haspopup="dialog"
              aria-expanded={isOpen}
              onClick={() => setIsOpen(true)}
              className={`${ITEM} text-muted`}
            >
              <Menu aria-hidden="true" className="size-5" />
              {t('Mais')}
            </button>
          </li>
        </ul>
      </nav>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        title={session.customer.name}
        description={session.customer.email ?? undefined}
      >
        {area === undefined && <BalanceLink onFollow={close} />}
        <nav aria-label={t('Todas as páginas')}>
          <NavigationLinks menu={menu} onFollow={close} />
        </nav>
        <div className="mt-3 border-t border-line pt-3">
          <AccountPanel session={session} isAdminArea={area !== undefined} onFollow={close} />
        </div>
      </Dialog>
    </>
  )
}

import { Link } from '@tanstack/react-router'
import type { MenuEntry } from './menu.ts'

interface NavigationLinksProps {
  readonly menu: readonly MenuEntry[]
  readonly onFollow?: () => void
}

export function NavigationLinks({ menu, onFollow }: NavigationLinksProps) {
  return (
    <ul className="flex flex-col gap-0.5">
      {menu.map(({ to, label, icon: Icon }) => (
        <li key={to}>
          <Link
            to={to}
            {...(onFollow ? { onClick: onFollow } : {})}
            activeOptions={{ exact: to === '/' }}
            className="flex min-h-11 items-center gap-3 rounded-lg px-3 text-sm font-medium md:min-h-10"
            activeProps={{ className: 'bg-accent-soft text-accent' }}
            inactiveProps={{ className: 'text-muted hover:bg-sunken hover:text-ink' }}
          >
            <Icon aria-hidden="true" className="size-4.5 shrink-0" />
            {label}
          </Link>
        </li>
      ))}
    </ul>
  )
}

import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import type { MenuEntry } from './menu.ts'

interface NavigationLinksProps {
  readonly menu: readonly MenuEntry[]
  readonly onFollow?: () => void
}

const ROW =
  'flex min-h-11 items-center gap-3 rounded-lg px-3 text-sm font-medium md:min-h-9 low:min-h-8 lower:min-h-6'

export function NavigationLinks({ menu, onFollow }: NavigationLinksProps) {
  const groups = Map.groupBy(menu, ({ group }) => group)
  return (
    <div className="flex flex-col gap-3 low:gap-1 lower:gap-0.5">
      {[...groups].map(([group, entries]) => (
        <Group
          key={group ?? ''}
          name={group}
          entries={entries}
          {...(onFollow ? { onFollow } : {})}
        />
      ))}
    </div>
  )
}

interface GroupProps {
  readonly name: string | undefined
  readonly entries: readonly MenuEntry[]
  readonly onFollow?: () => void
}

function Group({ name, entries, onFollow }: GroupProps) {
  const id = useId()
  return (
    <div>
      {name !== undefined && (
        <p
          id={id}
          className="px-3 pb-0.5 text-[0.6875rem] leading-4 font-semibold tracking-wide text-muted uppercase"
        >
          {name}
        </p>
      )}
      <ul aria-labelledby={name === undefined ? undefined : id} className="flex flex-col">
        {entries.map(({ to, label, icon: Icon }) => (
          <li key={to}>
            <Link
              to={to}
              {...(onFollow ? { onClick: onFollow } : {})}
              activeOptions={{ exact: to === '/' || to === '/admin' }}
              className={ROW}
              activeProps={{ className: 'bg-accent-soft text-accent' }}
              inactiveProps={{ className: 'text-muted hover:bg-sunken hover:text-ink' }}
            >
              <Icon aria-hidden="true" className="size-4.5 shrink-0" />
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

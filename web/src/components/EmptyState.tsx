import type { ReactNode } from 'react'

interface EmptyStateProps {
  icon?: ReactNode
  title: ReactNode
  /** What the list will show, or the first step. */
  children?: ReactNode
  action?: ReactNode
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-10 text-center">
      {icon !== undefined && (
        <div
          aria-hidden="true"
          className="mb-2 flex size-12 items-center justify-center rounded-full bg-accent-soft text-accent"
        >
          {icon}
        </div>
      )}
      <p className="font-semibold">{title}</p>
      {children !== undefined && <p className="max-w-prose text-sm text-muted">{children}</p>}
      {action !== undefined && <div className="mt-3">{action}</div>}
    </div>
  )
}

import { useId, type ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'

export interface CardProps {
  /** With a title, the card is a region of that name. */
  title?: ReactNode
  description?: ReactNode
  /** Placed to the right of the title. */
  actions?: ReactNode
  className?: string
  children?: ReactNode
}

export function Card({ title, description, actions, className, children }: CardProps) {
  const id = useId()
  const classes = classNames(
    'min-w-0 rounded-card border border-line bg-surface p-5 shadow-card md:p-6',
    className,
  )
  if (title === undefined) return <div className={classes}>{children}</div>
  return (
    <section aria-labelledby={id} className={classes}>
      <div className="mb-4 flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0">
          <h2 id={id} className="text-base font-semibold">
            {title}
          </h2>
          {description !== undefined && <p className="text-sm text-muted">{description}</p>}
        </div>
        {actions}
      </div>
      {children}
    </section>
  )
}

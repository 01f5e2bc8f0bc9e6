import { useEffect, type ReactNode } from 'react'

interface PageTitleProps {
  /** Also the title of the browser's tab. */
  title: string
  description?: ReactNode
  actions?: ReactNode
}

export function PageTitle({ title, description, actions }: PageTitleProps) {
  useEffect(() => {
    document.title = `${title} · Catraca`
  }, [title])
  return (
    <div className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 tabIndex={-1} className="text-2xl font-semibold tracking-tight">
          {title}
        </h1>
        {description !== undefined && <p className="mt-1 text-muted">{description}</p>}
      </div>
      {actions}
    </div>
  )
}

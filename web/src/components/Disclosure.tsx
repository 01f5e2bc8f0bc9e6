import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'

interface DisclosureProps {
  readonly summary: ReactNode
  /** The initial state; afterwards the reader controls it. */
  readonly isOpen?: boolean
  readonly children: ReactNode
}

/**
 * Hides secondary content. It is the browser's own element, which works by keyboard and is found by page
 * search.
 */
export function Disclosure({ summary, isOpen = false, children }: DisclosureProps) {
  return (
    <details open={isOpen} className="group text-sm">
      <summary className="inline-flex min-h-11 list-none items-center gap-1.5 font-medium text-accent md:min-h-9 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden="true"
          className="size-4 shrink-0 transition-transform group-open:rotate-90"
        />
        {summary}
      </summary>
      {children}
    </details>
  )
}

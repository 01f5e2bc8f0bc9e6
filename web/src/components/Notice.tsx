import type { ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'

export type NoticeTone = 'info' | 'success' | 'warning' | 'danger'

const TONES: Record<NoticeTone, string> = {
  info: 'bg-accent-soft text-ink',
  success: 'bg-success-soft text-success',
  warning: 'bg-warning-soft text-warning',
  danger: 'bg-danger-soft text-danger',
}

/** One or two sentences next to the content they concern; set `role` when the notice appears dynamically. */
export function Notice({
  tone = 'info',
  role,
  children,
}: {
  tone?: NoticeTone
  role?: 'alert' | 'status'
  children: ReactNode
}) {
  return (
    <div
      role={role}
      className={classNames('rounded-lg px-4 py-3 text-sm font-medium', TONES[tone])}
    >
      {children}
    </div>
  )
}

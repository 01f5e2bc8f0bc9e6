import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ConfirmDialog } from './ConfirmDialog.tsx'

interface LeaveGuardProps {
  /** Whether something on the page would be lost. */
  readonly isOn: boolean
  readonly title: string
  readonly confirmText: string
  readonly children: ReactNode
}

/** Asks before the user leaves the page; the browser asks when the tab is closed. */
export function LeaveGuard({ isOn, title, confirmText, children }: LeaveGuardProps) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isOn && current.pathname !== next.pathname,
    enableBeforeUnload: () => isOn,
    withResolver: true,
  })
  return (
    <ConfirmDialog
      isOpen={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title={title}
      confirmText={confirmText}
    >
      <p className="text-sm text-muted">{children}</p>
    </ConfirmDialog>
  )
}

/** The signed-in user, the theme and sign-out, behind a button that discloses them; Escape closes it. */
import { ChevronsUpDown } from 'lucide-react'
import { useEffect, useId, useRef, useState } from 'react'
import type { Session } from '../api/session.ts'
import { AccountPanel } from './AccountPanel.tsx'
import { t } from '../language/t.ts'

interface AccountMenuProps {
  readonly session: Session
  readonly isAdminArea: boolean
}

export function AccountMenu({ session, isAdminArea }: AccountMenuProps) {
  const [isOpen, setIsOpen] = useState(false)
  const panelId = useId()
  const ref = useRef<HTMLDivElement>(null)
  const buttonRef = useRef<HTMLButtonElement>(null)
  const { name, email } = session.customer

  useEffect(() => {
    if (!isOpen) return
    const onPointer = (event: Event): void => {
      if (!ref.current?.contains(event.target as Node)) setIsOpen(false)
    }
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape') return
      setIsOpen(false)
      buttonRef.current?.focus()
    }
    document.addEventListener('pointerdown', onPointer)
    document.addEventListener('keydown', onKey)
    return () => {
      document.removeEventListener('pointerdown', onPointer)
      document.removeEventListener('keydown', onKey)
    }
  }, [isOpen])

  return (
    <div ref={ref} className="relative">
      <button
        ref={buttonRef}
        type="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? panelId : undefined}
        onClick={() => setIsOpen(!isOpen)}
        className="flex min-h-12 w-full items-center gap-3 rounded-lg px-2 text-left hover:bg-sunken low:min-h-9"
      >
        <span
          aria-hidden="true"
          className="flex size-8 shrink-0 items-center justify-center rounded-full bg-accent text-sm font-semibold text-on-accent"
        >
          {name.trim().charAt(0).toUpperCase() || '?'}
        </span>
        <span className="min-w-0 flex-1">
          <span className="block truncate text-sm font-medium">{name}</span>
          <span className="block truncate text-xs text-muted">{email}</span>
        </span>
        <span className="sr-only">{t('Sua conta')}</span>
        <ChevronsUpDown aria-hidden="true" className="size-4 shrink-0 text-muted" />
      </button>
      {isOpen && (
        <div
          id={panelId}
          className="absolute inset-x-0 bottom-full z-30 mb-2 rounded-xl border border-line bg-surface p-2 shadow-lg"
        >
          <AccountPanel
            session={session}
            isAdminArea={isAdminArea}
            onFollow={() => setIsOpen(false)}
          />
        </div>
      )}
    </div>
  )
}

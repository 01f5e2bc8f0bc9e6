import type { ReactNode } from 'react'
import { Dialog } from './Dialog.tsx'
import { FormEnd } from './FormEnd.tsx'

interface ConfirmDialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly onConfirm: () => void
  readonly title: ReactNode
  /** Names the action, as in "Revogar chave", never just "Sim". */
  readonly confirmText: string
  readonly variant?: 'primary' | 'danger'
  readonly isBusy?: boolean
  /** Disabled until the dialog's other requirements are met. */
  readonly isDisabled?: boolean
  readonly error?: string | undefined
  readonly children?: ReactNode
}

export function ConfirmDialog({
  isOpen,
  onClose,
  onConfirm,
  title,
  confirmText,
  variant = 'danger',
  isBusy = false,
  isDisabled = false,
  error,
  children,
}: ConfirmDialogProps) {
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={title}>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!isBusy && !isDisabled) onConfirm()
        }}
      >
        <div className="grid gap-4">{children}</div>
        <FormEnd
          error={error}
          submitLabel={confirmText}
          variant={variant}
          isBusy={isBusy}
          isDisabled={isDisabled}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  )
}

import { useState, type ReactNode } from 'react'
import { Dialog } from '../../components/Dialog.tsx'

interface ConfirmedFormDialogProps<Input> {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  readonly confirmationTitle: string
  /** `draft`: the input of an earlier step, to be edited again. */
  readonly renderForm: (step: {
    readonly draft: Input | undefined
    readonly onReview: (input: Input) => void
    readonly onCancel: () => void
  }) => ReactNode
  readonly renderConfirmation: (step: {
    readonly input: Input
    readonly onBack: () => void
    readonly onDone: () => void
  }) => ReactNode
}

/** A dialog of two steps: the form, then a confirmation that shows the whole input. */
export function ConfirmedFormDialog<Input>({
  isOpen,
  onClose,
  title,
  confirmationTitle,
  renderForm,
  renderConfirmation,
}: ConfirmedFormDialogProps<Input>) {
  const [draft, setDraft] = useState<Input>()
  const [isConfirming, setConfirming] = useState(false)
  const close = (): void => {
    setDraft(undefined)
    setConfirming(false)
    onClose()
  }
  return (
    <Dialog isOpen={isOpen} onClose={close} title={isConfirming ? confirmationTitle : title}>
      {draft !== undefined && isConfirming
        ? renderConfirmation({ input: draft, onBack: () => setConfirming(false), onDone: close })
        : renderForm({
            draft,
            onCancel: close,
            onReview(input) {
              setDraft(input)
              setConfirming(true)
            },
          })}
    </Dialog>
  )
}

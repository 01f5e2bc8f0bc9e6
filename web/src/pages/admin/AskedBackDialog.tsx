import { useState, type ReactNode } from 'react'
import { Dialog } from '../../components/Dialog.tsx'

interface AskedBackDialogProps<Input> {
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly title: string
  readonly askingTitle: string
  /** `written`: what was written before, to be changed. */
  readonly renderForm: (step: {
    readonly written: Input | undefined
    readonly onWritten: (input: Input) => void
    readonly onCancel: () => void
  }) => ReactNode
  readonly renderConfirmation: (step: {
    readonly input: Input
    readonly onBack: () => void
    readonly onDone: () => void
  }) => ReactNode
}

/** Written first, then said back in full, then done. */
export function AskedBackDialog<Input>({
  isOpen,
  onClose,
  title,
  askingTitle,
  renderForm,
  renderConfirmation,
}: AskedBackDialogProps<Input>) {
  const [written, setWritten] = useState<Input>()
  const [isAsking, setAsking] = useState(false)
  const close = (): void => {
    setWritten(undefined)
    setAsking(false)
    onClose()
  }
  return (
    <Dialog isOpen={isOpen} onClose={close} title={isAsking ? askingTitle : title}>
      {written !== undefined && isAsking
        ? renderConfirmation({ input: written, onBack: () => setAsking(false), onDone: close })
        : renderForm({
            written,
            onCancel: close,
            onWritten(input) {
              setWritten(input)
              setAsking(true)
            },
          })}
    </Dialog>
  )
}

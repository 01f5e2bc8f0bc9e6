import type { ReactNode } from 'react'
import { Button } from './Button.tsx'
import type { ButtonVariant } from './button-class.ts'
import { Notice } from './Notice.tsx'
import { t } from '../language/t.ts'

interface FormEndProps {
  /** An error of the whole form; errors of a field are shown at the field. */
  readonly error: string | undefined
  readonly submitLabel: ReactNode
  readonly variant?: ButtonVariant
  readonly isBusy: boolean
  readonly isDisabled?: boolean
  readonly cancelLabel?: string
  /** Without it there is nothing to cancel any more: one button. */
  readonly onCancel?: () => void
}

/** The end of a dialog's form: the error, and the buttons. */
export function FormEnd({
  error,
  submitLabel,
  variant = 'primary',
  isBusy,
  isDisabled = false,
  cancelLabel = t('Cancelar'),
  onCancel,
}: FormEndProps) {
  return (
    <>
      {error !== undefined && (
        <Notice tone="danger" role="alert">
          {error}
        </Notice>
      )}
      <div className="flex flex-col-reverse gap-3 sm:flex-row sm:justify-end">
        {onCancel && (
          <Button variant="secondary" onClick={onCancel}>
            {cancelLabel}
          </Button>
        )}
        <Button type="submit" variant={variant} isBusy={isBusy} disabled={isDisabled}>
          {submitLabel}
        </Button>
      </div>
    </>
  )
}

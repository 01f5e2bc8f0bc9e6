import { Button } from './Button.tsx'
import { Notice } from './Notice.tsx'

interface FormEndProps {
  /** Of the whole form; what is wrong with a field stands there. */
  readonly error: string | undefined
  readonly submitLabel: string
  readonly isBusy: boolean
  readonly onCancel: () => void
}

/** How the form of a dialog ends: what went wrong, and its two ways out. */
export function FormEnd({ error, submitLabel, isBusy, onCancel }: FormEndProps) {
  return (
    <>
      {error !== undefined && (
        <Notice tone="danger" role="alert">
          {error}
        </Notice>
      )}
      <div className="flex flex-col-reverse gap-3 sm:flex-row sm:justify-end">
        <Button variant="secondary" onClick={onCancel}>
          Cancelar
        </Button>
        <Button type="submit" isBusy={isBusy}>
          {submitLabel}
        </Button>
      </div>
    </>
  )
}

import { useId, type ReactNode } from 'react'
import { classNames } from '../lib/class-names.ts'

/** What the control needs to be tied to its label, hint and error: spread it on an Input or Select. */
export interface ControlProps {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': true | undefined
}

interface FieldProps {
  label: ReactNode
  hint?: ReactNode
  error?: ReactNode
  className?: string
  /** Where the page has to find the control; else one is made up. */
  id?: string
  children: (control: ControlProps) => ReactNode
}

/** `<Field label="Nome" error={…}>{(control) => <Input {...control} />}</Field>` */
export function Field({ label, hint, error, className, id: givenId, children }: FieldProps) {
  const ownId = useId()
  const id = givenId ?? ownId
  const hintId = hint === undefined ? undefined : `${id}-hint`
  const hasError = error !== undefined && error !== null && error !== false && error !== ''
  const errorId = hasError ? `${id}-error` : undefined
  return (
    <div className={classNames('flex min-w-0 flex-col gap-1.5', className)}>
      <label htmlFor={id} className="text-sm font-medium">
        {label}
      </label>
      {children({
        id,
        'aria-describedby': [errorId, hintId].filter(Boolean).join(' ') || undefined,
        'aria-invalid': hasError || undefined,
      })}
      {hasError && (
        <p id={errorId} className="text-sm font-medium text-danger">
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p id={hintId} className="text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

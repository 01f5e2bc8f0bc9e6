import { useId, type ComponentProps, type ReactNode } from 'react'

type CheckboxProps = Omit<ComponentProps<'input'>, 'type' | 'className'> & {
  label: ReactNode
  hint?: ReactNode
}

export function Checkbox({ label, hint, ...rest }: CheckboxProps) {
  const id = useId()
  return (
    <div>
      {/* The label makes the target large enough for touch. */}
      <label className="inline-flex min-h-11 cursor-pointer items-center gap-3 text-sm font-medium md:min-h-8">
        <input
          {...rest}
          type="checkbox"
          aria-describedby={hint === undefined ? undefined : id}
          className="size-5 shrink-0 accent-accent"
        />
        {label}
      </label>
      {hint !== undefined && (
        <p id={id} className="pl-8 text-sm text-muted">
          {hint}
        </p>
      )}
    </div>
  )
}

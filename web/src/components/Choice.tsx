import type { LucideIcon } from 'lucide-react'
import { useId, type ReactNode } from 'react'

interface Option<Value extends string> {
  readonly value: Value
  readonly text: ReactNode
  readonly hint?: ReactNode
  readonly icon?: LucideIcon
}

interface ChoiceProps<Value extends string> {
  readonly legend: string
  readonly options: readonly Option<Value>[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

/** Radio buttons as cards: a choice between a few visible options. */
export function Choice<Value extends string>({
  legend,
  options,
  value,
  onChange,
}: ChoiceProps<Value>) {
  const name = useId()
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1.5 text-sm font-medium">{legend}</legend>
      <div className="grid auto-cols-fr gap-2 sm:grid-flow-col">
        {options.map(({ value: each, text, hint, icon: Icon }) => (
          <label
            key={each}
            className="flex min-h-11 cursor-pointer items-center gap-3 rounded-lg border border-line-strong bg-surface px-3 py-2.5 hover:bg-sunken has-checked:border-accent has-checked:bg-accent-soft has-checked:ring-1 has-checked:ring-accent has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={name}
              value={each}
              checked={each === value}
              onChange={() => onChange(each)}
              className="sr-only"
            />
            {Icon && <Icon aria-hidden="true" className="size-5 shrink-0 text-accent" />}
            <span className="min-w-0">
              <span className="block text-sm font-semibold">{text}</span>
              {hint !== undefined && <span className="block text-xs text-muted">{hint}</span>}
            </span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}

interface StateSwitchProps<Value extends string> {
  readonly legend: string
  readonly states: Readonly<Record<Value, string>>
  readonly value: Value
  readonly onChange: (value: Value) => void
}

/** Filters a list by one of a few states, all of them visible. */
export function StateSwitch<Value extends string>({
  legend,
  states,
  value,
  onChange,
}: StateSwitchProps<Value>) {
  return (
    <fieldset className="mb-4 min-w-0">
      <legend className="sr-only">{legend}</legend>
      <div className="flex flex-wrap gap-1">
        {(Object.entries(states) as [Value, string][]).map(([each, text]) => (
          <button
            key={each}
            type="button"
            aria-pressed={each === value}
            onClick={() => onChange(each)}
            className="min-h-11 rounded-lg px-3 text-sm font-medium text-muted hover:bg-sunken aria-pressed:bg-accent-soft aria-pressed:text-accent md:min-h-9"
          >
            {text}
          </button>
        ))}
      </div>
    </fieldset>
  )
}

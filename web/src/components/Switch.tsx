interface SwitchProps {
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
  /** Names the switched thing; screen readers add whether it is on. */
  readonly label: string
  readonly isDisabled?: boolean
}

/** For settings that take effect at once; use a Checkbox for settings that a form submits. */
export function Switch({ isOn, onChange, label, isDisabled = false }: SwitchProps) {
  return (
    <button
      type="button"
      role="switch"
      aria-checked={isOn}
      aria-label={label}
      disabled={isDisabled}
      onClick={() => onChange(!isOn)}
      className="group inline-grid size-11 shrink-0 place-items-center rounded-lg disabled:opacity-60"
    >
      <span
        aria-hidden="true"
        className="relative block h-6 w-11 rounded-full border border-line-strong bg-sunken transition-colors group-aria-checked:border-accent group-aria-checked:bg-accent"
      >
        <span className="absolute top-0.5 left-0.5 block size-4.5 rounded-full bg-line-strong transition-transform group-aria-checked:translate-x-5 group-aria-checked:bg-on-accent" />
      </span>
    </button>
  )
}

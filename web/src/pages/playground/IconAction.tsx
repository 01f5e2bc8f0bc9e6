import type { LucideIcon } from 'lucide-react'

interface Props {
  readonly icon: LucideIcon
  readonly label: string
  readonly onClick: () => void
}

/** An action on a message, as large as the copy button. */
export function IconAction({ icon: Icon, label, onClick }: Props) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={onClick}
      className="-my-2.5 inline-grid size-11 shrink-0 place-items-center rounded-lg text-muted hover:bg-sunken hover:text-ink md:my-0 md:size-7"
    >
      <Icon aria-hidden="true" className="size-3.5" />
    </button>
  )
}

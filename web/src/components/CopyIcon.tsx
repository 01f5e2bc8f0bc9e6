import { Check, Copy } from 'lucide-react'
import { useCopy } from '../lib/use-copy.ts'

/** A copy button for places without room for text; `label` names the copied content. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const { isCopied, copy } = useCopy(text)

  const Icon = isCopied ? Check : Copy
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={() => void copy()}
      className="-my-2.5 inline-grid size-11 shrink-0 place-items-center rounded-lg text-muted hover:bg-sunken hover:text-ink md:my-0 md:size-7"
    >
      <Icon aria-hidden="true" className="size-3.5" />
    </button>
  )
}

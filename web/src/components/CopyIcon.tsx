import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useToast } from './Toast.tsx'

const SHOWN_MS = 2000

/** Copies where there is no place for a button with words; `label` says what. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const [isCopied, setIsCopied] = useState(false)
  const toast = useToast()
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isCopied])

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(text)
      setIsCopied(true)
      toast('Copiado.')
    } catch {
      toast('Não deu para copiar. Selecione o texto e copie você mesmo.', 'danger')
    }
  }

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

import { useEffect, useState } from 'react'
import { useToast } from '../components/Toast.tsx'
import { t } from '../language/t.ts'

const SHOWN_MS = 2000

/** Copies the text and confirms it briefly, or explains how to copy by hand when the browser refuses. */
export function useCopy(text: string): { isCopied: boolean; copy: () => Promise<void> } {
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
      toast(t('Copiado.'))
    } catch {
      toast(t('Não deu para copiar. Selecione o texto e copie você mesmo.'), 'danger')
    }
  }
  return { isCopied, copy }
}

import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './Button.tsx'
import type { ButtonVariant } from './button-class.ts'
import { useToast } from './Toast.tsx'

const SHOWN_MS = 2000

interface CopyButtonProps {
  text: string
  label?: string
  variant?: ButtonVariant
  className?: string
}

export function CopyButton({
  text,
  label = 'Copiar',
  variant = 'secondary',
  className,
}: CopyButtonProps) {
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

  return (
    <Button
      variant={variant}
      {...(className === undefined ? {} : { className })}
      onClick={() => void copy()}
      icon={
        isCopied ? (
          <Check aria-hidden="true" className="size-4" />
        ) : (
          <Copy aria-hidden="true" className="size-4" />
        )
      }
    >
      {isCopied ? 'Copiado' : label}
    </Button>
  )
}

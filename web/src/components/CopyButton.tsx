import { Check, Copy } from 'lucide-react'
import { Button } from './Button.tsx'
import type { ButtonVariant } from './button-class.ts'
import { useCopy } from '../lib/use-copy.ts'
import { t } from '../language/t.ts'

interface CopyButtonProps {
  text: string
  label?: string
  variant?: ButtonVariant
  className?: string
}

export function CopyButton({
  text,
  label = t('Copiar'),
  variant = 'secondary',
  className,
}: CopyButtonProps) {
  const { isCopied, copy } = useCopy(text)

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
      {isCopied ? t('Copiado') : label}
    </Button>
  )
}

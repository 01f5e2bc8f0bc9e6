import { Download } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { saveFile } from '../../lib/save-file.ts'
import { t } from '../../language/t.ts'

interface BackupCodesProps {
  readonly codes: readonly string[]
  readonly onDone: () => void
}

/** Part of the page rather than a dialog, which a stray click would close: the codes are shown only once. */
export function BackupCodes({ codes, onDone }: BackupCodesProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    heading.current?.focus()
    heading.current?.scrollIntoView({ block: 'center' })
  }, [])
  const text = codes.join('\n')
  return (
    <div className="rounded-card border-2 border-accent p-5">
      <h3 ref={heading} tabIndex={-1} className="font-semibold outline-none">
        {t('Guarde seus códigos de reserva')}
      </h3>
      <p className="mt-1 mb-4 text-sm text-muted">
        {t(
          'Se você perder o celular, eles são a forma de entrar. Cada um vale uma vez, e eles só aparecem agora: guarde fora do celular.',
        )}
      </p>
      <ol
        aria-label={t('Códigos de reserva')}
        className="mb-5 grid gap-x-6 gap-y-1.5 rounded-lg bg-sunken px-4 py-3 font-mono text-sm select-all sm:grid-cols-2"
      >
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ol>
      <div className="flex flex-wrap gap-3">
        <CopyButton text={text} label={t('Copiar códigos')} />
        <Button
          variant="secondary"
          onClick={() => save(text)}
          icon={<Download aria-hidden="true" className="size-4" />}
        >
          {t('Baixar')}
        </Button>
        <Button onClick={onDone}>{t('Já guardei os códigos')}</Button>
      </div>
    </div>
  )
}

function save(codes: string): void {
  const text = t(
    'Catraca: códigos de reserva da verificação em duas etapas.\nCada um vale uma vez.\n\n{codes}\n',
    { codes },
  )
  saveFile(new Blob([text], { type: 'text/plain' }), 'catraca-codigos-de-reserva.txt')
}

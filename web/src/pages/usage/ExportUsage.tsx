import { Download } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { today } from '../../format/date.ts'
import { megabytes } from '../../format/number.ts'
import { useExport } from './use-export.ts'
import { perLanguage } from '../../language/per-language.ts'
import { t } from '../../language/t.ts'

const FILES = perLanguage(
  () =>
    [
      ['/usage/export.csv', t('Baixar CSV'), 'primary'],
      ['/usage/export.json', t('Baixar JSON'), 'secondary'],
    ] as const,
)

export function ExportUsage() {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button
        variant="secondary"
        icon={<Download aria-hidden="true" className="size-4" />}
        onClick={() => setOpen(true)}
      >
        {t('Exportar')}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={t('Exportar o uso')}
        description={t(
          'Todas as chamadas cobradas do período, cada uma com o cálculo do seu valor.',
        )}
      >
        <ExportForm onDone={() => setOpen(false)} />
      </Dialog>
    </>
  )
}

/** Defaults to this month until today. */
function ExportForm({ onDone }: { readonly onDone: () => void }) {
  const [from, setFrom] = useState(() => `${today().slice(0, 7)}-01`)
  const [to, setTo] = useState(() => today())
  const { bytes, error, start, cancel } = useExport(onDone)
  const isRunning = bytes !== undefined
  const fault = faultOf(from, to) ?? error
  return (
    <div className="grid gap-5">
      <div className="grid grid-cols-2 gap-3">
        <Field label={t('De')}>
          {(control) => (
            <Input
              {...control}
              type="date"
              value={from}
              onChange={(event) => setFrom(event.target.value)}
            />
          )}
        </Field>
        <Field label={t('Até, incluído')}>
          {(control) => (
            <Input
              {...control}
              type="date"
              value={to}
              onChange={(event) => setTo(event.target.value)}
            />
          )}
        </Field>
      </div>
      {fault !== undefined && (
        <Notice tone="danger" role="alert">
          {fault}
        </Notice>
      )}
      <p className="text-sm text-muted">
        {t('O CSV abre direto em planilhas em português. O JSON é para programas.')}
      </p>
      <p className="text-sm font-medium">
        {/* The growing size is visible, but not announced again and again. */}
        <span aria-live="polite">{isRunning && t('Preparando o arquivo… ')}</span>
        {isRunning && t('{bytes} até agora', { bytes: megabytes(bytes) })}
      </p>
      <div className="flex flex-wrap justify-end gap-3">
        {isRunning && (
          <Button variant="secondary" onClick={cancel}>
            {t('Cancelar')}
          </Button>
        )}
        {!isRunning &&
          FILES().map(([path, text, variant]) => (
            <Button
              key={path}
              variant={variant}
              disabled={faultOf(from, to) !== undefined}
              onClick={() => void start(path, { from, to })}
            >
              {text}
            </Button>
          ))}
      </div>
    </div>
  )
}

function faultOf(from: string, to: string): string | undefined {
  if (from === '' || to === '') return t('Escolha o primeiro e o último dia.')
  return from > to ? t('O primeiro dia vem depois do último. Troque um deles.') : undefined
}

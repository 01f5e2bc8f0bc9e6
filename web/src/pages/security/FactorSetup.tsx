import { useState, type SubmitEvent } from 'react'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { CodeField } from '../../components/CodeField.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { Notice } from '../../components/Notice.tsx'
import { QrPicture } from '../../components/QrPicture.tsx'
import { useFirstFocus } from '../../lib/use-first-focus.ts'
import { enableFactor, type FactorSecret } from './security-queries.ts'
import type { WithProof } from './use-proof.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface FactorSetupProps {
  readonly secret: FactorSecret
  readonly withProof: WithProof
  readonly onEnabled: (backupCodes: readonly string[]) => void
  readonly onCancel: () => void
}

/** The second factor is required only after a code has proved that the app holds the secret. */
export function FactorSetup({ secret, withProof, onEnabled, onCancel }: FactorSetupProps) {
  const [code, setCode] = useState('')
  const [fault, setFault] = useState<string>()
  const start = useFirstFocus<HTMLParagraphElement>()
  const enable = useSubmit({
    mutationFn: () => withProof(() => enableFactor(code)),
    onSuccess: ({ backupCodes }) => onEnabled(backupCodes),
    onError: () => document.getElementById('primeiro-codigo')?.focus(),
  })

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const wrong = /^\s*(\d\s*){6}$/.test(code) ? undefined : t('O código tem seis dígitos.')
    setFault(wrong)
    if (wrong === undefined) enable.mutate()
    else document.getElementById('primeiro-codigo')?.focus()
  }

  return (
    <form onSubmit={submit} noValidate className="grid gap-5">
      <p ref={start} tabIndex={-1} className="text-sm outline-none">
        {t(
          '1. Leia o QR code com um aplicativo autenticador: Google Authenticator, Microsoft Authenticator, 1Password, ou o gerenciador de senhas do seu celular.',
        )}
      </p>
      <div className="grid gap-5 sm:grid-cols-[auto_1fr] sm:items-center">
        <QrPicture
          base64={secret.qrPng}
          label={t('QR code para o aplicativo autenticador; ao lado está o mesmo em texto')}
        />
        <div className="grid min-w-0 gap-3">
          <p className="text-sm text-muted">
            {t('Não consegue ler? Digite esta chave no aplicativo:')}
          </p>
          <code
            aria-label={t('A chave em texto')}
            className="rounded-lg bg-sunken px-3 py-2.5 break-all select-all"
          >
            {(secret.secret.match(/.{1,4}/g) ?? []).join(' ')}
          </code>
          <CopyButton
            text={secret.secret}
            label={t('Copiar chave')}
            className="justify-self-start"
          />
        </div>
      </div>
      <p className="text-sm">{t('2. Digite o código de seis dígitos que o aplicativo mostra.')}</p>
      <div className="max-w-xs">
        <CodeField
          id="primeiro-codigo"
          label={t('Código do aplicativo')}
          value={code}
          error={fault}
          onChange={setCode}
        />
      </div>
      {enable.error && (
        <Notice tone="danger" role="alert">
          {explainError(enable.error)}
        </Notice>
      )}
      <div className="flex flex-col-reverse gap-3 sm:flex-row">
        <Button variant="secondary" onClick={onCancel}>
          {t('Cancelar')}
        </Button>
        <Button type="submit" isBusy={enable.isPending}>
          {t('Confirmar e ligar')}
        </Button>
      </div>
    </form>
  )
}

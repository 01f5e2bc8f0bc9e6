import { useState } from 'react'
import { signOut } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { CodeField } from '../../components/CodeField.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { prove, type Security } from './security-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface ProofDialogProps {
  readonly security: Security
  readonly isOpen: boolean
  readonly onProved: () => void
  readonly onClose: () => void
}

/** Asks for a code, else for the password, else for another sign-in, depending on what the user has. */
export function ProofDialog({ security, isOpen, onProved, onClose }: ProofDialogProps) {
  const [typed, setTyped] = useState('')
  const hasFactor = security.secondFactor.enabledAt !== null
  const canProve = hasFactor || security.hasPassword
  const act = useSubmit({
    mutationFn: async () => {
      if (canProve) return prove(hasFactor ? { code: typed } : { password: typed })
      await signOut()
      return window.location.assign('/entrar?voltar=%2Fseguranca')
    },
    onSuccess: () => {
      setTyped('')
      if (canProve) onProved()
    },
  })
  const label = hasFactor ? t('Código do aplicativo ou de reserva') : t('Senha')
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={() => {
        setTyped('')
        act.reset()
        // Also called when the dialog closes after success; then no caller is waiting.
        onClose()
      }}
      onConfirm={() => act.mutate()}
      title={t('Confirme que é você')}
      confirmText={canProve ? t('Continuar') : t('Entrar de novo')}
      variant="primary"
      isBusy={act.isPending}
      isDisabled={canProve && typed === ''}
      error={act.error ? explainError(act.error) : undefined}
    >
      <p className="text-sm text-muted">
        {canProve
          ? t('O que você vai mudar protege a sua conta. Vale pelos próximos dez minutos.')
          : t(
              'O que você vai mudar protege a sua conta, e faz tempo que você entrou. Entre de novo e volte a esta página.',
            )}
      </p>
      {hasFactor && <CodeField label={label} isBackup value={typed} onChange={setTyped} />}
      {!hasFactor && security.hasPassword && (
        <Field label={label}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="current-password"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
      )}
    </ConfirmDialog>
  )
}

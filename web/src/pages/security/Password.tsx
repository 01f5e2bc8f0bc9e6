import { useQueryClient } from '@tanstack/react-query'
import { useState, type SubmitEvent } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { sendPasswordReset } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { useToast } from '../../components/Toast.tsx'
import { changePassword, SECURITY } from './security-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The server's minimum. */
const PASSWORD_CHARS_MIN = 10

interface PasswordProps {
  readonly email: string
  readonly hasPassword: boolean
}

export function Password({ email, hasPassword }: PasswordProps) {
  return hasPassword ? <ChangePassword /> : <FirstPassword email={email} />
}

/** Sets a first password by mail, like a forgotten one, so that a stranger at an open page cannot choose it. */
function FirstPassword({ email }: { readonly email: string }) {
  const ask = useSubmit({ mutationFn: () => sendPasswordReset(email) })
  return (
    <Card
      title={t('Senha')}
      description={t('Você entra sem senha. Se quiser uma, enviamos um link para escolher.')}
    >
      <div className="grid gap-4">
        {ask.isSuccess && (
          <Notice tone="success" role="status">
            <Trans id="Enviamos o link para {email}. Ele vale por uma hora." values={{ email }} />
          </Notice>
        )}
        {ask.error && (
          <Notice tone="danger" role="alert">
            {explainError(ask.error)}
          </Notice>
        )}
        <Button
          variant="secondary"
          className="justify-self-start"
          isBusy={ask.isPending}
          onClick={() => ask.mutate()}
        >
          {t('Enviar o link')}
        </Button>
      </div>
    </Card>
  )
}

function ChangePassword() {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [faults, setFaults] = useState<{ atual?: string; nova?: string }>({})
  const queries = useQueryClient()
  const toast = useToast()
  const change = useSubmit({
    mutationFn: () => changePassword({ currentPassword: current, newPassword: next }),
    async onSuccess() {
      setCurrent('')
      setNext('')
      toast(t('Senha trocada. As outras sessões foram encerradas.'))
      await queries.invalidateQueries({ queryKey: SECURITY })
    },
    onError(error) {
      if (error instanceof ApiError && error.code === 'INVALID_PASSWORD')
        setFaults({ atual: t('A senha atual não confere.') })
      document.getElementById('senha-atual')?.focus()
    },
  })

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const found = {
      ...(current === '' ? { atual: t('Digite a senha atual.') } : {}),
      ...(next.length < PASSWORD_CHARS_MIN
        ? {
            nova: t('Use ao menos {passwordCharsMin} caracteres.', {
              passwordCharsMin: PASSWORD_CHARS_MIN,
            }),
          }
        : {}),
    }
    setFaults(found)
    if (Object.keys(found).length === 0) change.mutate()
    else document.getElementById(found.atual ? 'senha-atual' : 'senha-nova')?.focus()
  }

  const isFieldFault = change.error instanceof ApiError && change.error.code === 'INVALID_PASSWORD'
  return (
    <Card title={t('Senha')} description={t('Ao trocar, as outras sessões são encerradas.')}>
      <form onSubmit={submit} noValidate className="grid max-w-sm gap-4">
        <Field label={t('Senha atual')} error={faults.atual} id="senha-atual">
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="current-password"
              value={current}
              onChange={(event) => setCurrent(event.target.value)}
            />
          )}
        </Field>
        <Field
          label={t('Nova senha')}
          error={faults.nova}
          id="senha-nova"
          hint={t('Ao menos {passwordCharsMin} caracteres. Uma frase curta é fácil de lembrar.', {
            passwordCharsMin: PASSWORD_CHARS_MIN,
          })}
        >
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              maxLength={128}
              value={next}
              onChange={(event) => setNext(event.target.value)}
            />
          )}
        </Field>
        {change.error && !isFieldFault && (
          <Notice tone="danger" role="alert">
            {explainError(change.error)}
          </Notice>
        )}
        <Button
          type="submit"
          variant="secondary"
          className="justify-self-start"
          isBusy={change.isPending}
        >
          {t('Trocar senha')}
        </Button>
      </form>
    </Card>
  )
}

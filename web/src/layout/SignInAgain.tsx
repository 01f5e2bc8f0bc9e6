/**
 * Over the page whose session has ended: the user signs in here, and goes on where they were. The page is hidden
 * meanwhile, because another person may be looking at the screen now.
 */
import { focusManager } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useRef, useState, type SubmitEvent } from 'react'
import { giveCode, signIn } from '../api/auth.ts'
import { explainError } from '../api/explain-error.ts'
import type { Session } from '../api/session.ts'
import { Button } from '../components/Button.tsx'
import { CodeField } from '../components/CodeField.tsx'
import { Field } from '../components/Field.tsx'
import { Input } from '../components/Input.tsx'
import { Notice } from '../components/Notice.tsx'
import { useSubmit } from '../lib/use-submit.ts'
import { PasskeyEntrance } from '../pages/sign-in/PasskeyEntrance.tsx'
import { t } from '../language/t.ts'
import { Trans } from '../language/Trans.tsx'

export function SignInAgain({ session }: { readonly session: Session }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    ref.current?.showModal()
    // Nothing polls with a cookie that is refused.
    focusManager.setFocused(false)
    return () => focusManager.setFocused(undefined)
  }, [])
  return (
    <dialog
      ref={ref}
      aria-labelledby="entrar-de-novo"
      aria-describedby="entrar-de-novo-motivo"
      // Browsers that do not know it close at Escape, unless the page prevents it.
      closedby="none"
      onCancel={(event) => event.preventDefault()}
      className="m-auto w-[calc(100%-2rem)] max-w-md rounded-2xl border border-line bg-surface p-6 text-ink shadow-xl backdrop:bg-canvas sm:p-8"
    >
      <h2 id="entrar-de-novo" className="text-lg font-semibold">
        {t('Sua sessão terminou')}
      </h2>
      <p id="entrar-de-novo-motivo" className="mt-1 mb-5 text-sm text-muted">
        {t(
          'Ela venceu ou foi encerrada em outro lugar. Entre de novo e continue de onde parou: o que você preencheu nesta página continua aqui.',
        )}
      </p>
      <Entrance email={session.customer.email ?? ''} />
    </dialog>
  )
}

function Entrance({ email }: { readonly email: string }) {
  const router = useRouter()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [fault, setFault] = useState<string>()
  const first = useSubmit({ mutationFn: () => signIn({ email, password }) })
  const second = useSubmit({ mutationFn: () => giveCode(code) })
  const awaitsCode = first.data?.awaitsFactor === true
  const step = awaitsCode ? second : first

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const typed = awaitsCode ? code.trim() : password
    const missing = awaitsCode ? t('Digite o código.') : t('Digite sua senha.')
    setFault(typed === '' ? missing : undefined)
    if (typed !== '' && !step.isPending) step.mutate()
  }

  return (
    <>
      <form onSubmit={submit} noValidate className="grid gap-4">
        {step.error && (
          <Notice tone="danger" role="alert">
            {explainError(step.error)}
          </Notice>
        )}
        <p className="text-sm">
          <Trans
            id="Conta: {span}"
            values={{ span: <span className="font-medium break-all">{email}</span> }}
          />
        </p>
        {/* For password managers. */}
        <input type="hidden" name="email" autoComplete="username" value={email} readOnly />
        {awaitsCode ? (
          <CodeField
            id="codigo-de-novo"
            label={t('Código do aplicativo ou de reserva')}
            isBackup
            value={code}
            error={fault}
            onChange={setCode}
          />
        ) : (
          <Field label={t('Senha')} error={fault}>
            {(control) => (
              <Input
                {...control}
                type="password"
                name="password"
                autoComplete="current-password"
                value={password}
                onChange={(event) => setPassword(event.target.value)}
              />
            )}
          </Field>
        )}
        <Button type="submit" isBusy={step.isPending} className="w-full">
          {awaitsCode ? t('Confirmar') : t('Entrar e continuar')}
        </Button>
      </form>
      <PasskeyEntrance onEntered={() => {}} />
      <Button
        variant="quiet"
        className="mt-2 w-full"
        onClick={() => {
          const search = { voltar: router.latestLocation.href }
          void router.navigate({ to: '/entrar', search, replace: true, ignoreBlocker: true })
        }}
      >
        {t('Entrar de outra forma')}
      </Button>
    </>
  )
}

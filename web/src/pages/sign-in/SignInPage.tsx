import { getRouteApi, Link, useNavigate, useRouter } from '@tanstack/react-router'
import { Mail } from 'lucide-react'
import { useState, type SubmitEvent } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { sendMagicLink, sendPasswordReset, signIn } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { CheckMail } from './CheckMail.tsx'
import { ConfirmFirst } from './ConfirmFirst.tsx'
import { emailFault } from './email-fault.ts'
import { EmailField } from './EmailField.tsx'
import { PasskeyEntrance } from './PasskeyEntrance.tsx'
import { ProviderEntrance } from './ProviderEntrance.tsx'
import { SignInCard } from './SignInCard.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The server's limit. */
const ADDRESS_MAX = 500

const route = getRouteApi('/open/entrar')

export function SignInPage() {
  const { voltar = '/', conta, erro } = route.useSearch()
  const router = useRouter()
  const navigate = useNavigate()
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [faults, setFaults] = useState<{ email?: string; password?: string }>({})
  const withPassword = useSubmit({
    mutationFn: () => signIn({ email: email.trim(), password }),
    onSuccess: ({ awaitsFactor }) =>
      awaitsFactor
        ? navigate({ to: '/entrar/codigo', search: { voltar } })
        : router.history.push(voltar),
  })
  const sendLink = () => sendMagicLink(email.trim(), asAddress(voltar))
  const withLink = useSubmit({ mutationFn: sendLink })
  const newPassword = useSubmit({ mutationFn: () => sendPasswordReset(email.trim()) })

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const wrongEmail = emailFault(email)
    const found = {
      ...(wrongEmail ? { email: wrongEmail } : {}),
      ...(password === '' ? { password: t('Digite sua senha, ou peça o link abaixo.') } : {}),
    }
    setFaults(found)
    for (const each of [withLink, newPassword]) each.reset()
    if (Object.keys(found).length === 0) withPassword.mutate()
    else document.getElementById(found.email ? 'email' : 'senha')?.focus()
  }

  /** Both ways to sign in without a password use a mail and need only the address. */
  function askByMail(ask: { reset: () => void; mutate: () => void }): void {
    const wrongEmail = emailFault(email)
    setFaults(wrongEmail ? { email: wrongEmail } : {})
    for (const each of [withPassword, withLink, newPassword]) each.reset()
    if (wrongEmail) document.getElementById('email')?.focus()
    else ask.mutate()
  }

  if (withLink.isSuccess) {
    return (
      <CheckMail email={email.trim()} onAgain={sendLink}>
        {t('Abra o link que enviamos para entrar. Ele vale por 15 minutos e só uma vez.')}
      </CheckMail>
    )
  }
  if (newPassword.isSuccess) {
    return (
      <CheckMail email={email.trim()} onAgain={() => sendPasswordReset(email.trim())}>
        {t('Abra o link que enviamos para escolher outra senha. Ele vale por uma hora.')}
      </CheckMail>
    )
  }
  const error = withPassword.error ?? withLink.error ?? newPassword.error
  if (error instanceof ApiError && error.code === 'EMAIL_NOT_VERIFIED') {
    return <ConfirmFirst email={email.trim()} />
  }
  return (
    <SignInCard
      title={t('Entrar')}
      description={t('Que bom ver você de novo.')}
      below={
        <>
          <Trans
            id="Ainda não tem conta? {link}"
            values={{
              link: (
                <Link
                  to="/cadastrar"
                  className="font-semibold text-accent underline underline-offset-4"
                >
                  {t('Crie a sua')}
                </Link>
              ),
            }}
          />
        </>
      }
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {conta === 'excluida' && (
          <Notice tone="info" role="status">
            {t(
              'Sua conta foi excluída: as chaves não funcionam mais, e seus dados pessoais foram apagados.',
            )}
          </Notice>
        )}
        {erro !== undefined && (
          <Notice tone="danger" role="alert">
            {providerFault(erro)}
          </Notice>
        )}
        {error && (
          <Notice tone="danger" role="alert">
            {explainError(error)}
          </Notice>
        )}
        <EmailField value={email} error={faults.email} onChange={setEmail} />
        <Field label={t('Senha')} error={faults.password} id="senha">
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
        <Button type="submit" isBusy={withPassword.isPending} className="w-full">
          {t('Entrar')}
        </Button>
        <Button
          variant="secondary"
          isBusy={withLink.isPending}
          onClick={() => askByMail(withLink)}
          icon={<Mail aria-hidden="true" className="size-4" />}
          className="w-full"
        >
          {t('Receber um link por e-mail')}
        </Button>
        <Button
          variant="quiet"
          isBusy={newPassword.isPending}
          onClick={() => askByMail(newPassword)}
          className="w-full"
        >
          {t('Esqueci minha senha')}
        </Button>
      </form>
      <ProviderEntrance returnTo={asAddress(voltar)} />
      {/* Last: only the code knows whether the browser has passkeys, and a drawn page must not move. */}
      <PasskeyEntrance onEntered={() => router.history.push(voltar)} />
    </SignInCard>
  )
}

/** Why the way back from another service ended here, by the word of the server. */
function providerFault(fault: string): string {
  if (fault === 'cancelado') return t('A entrada foi cancelada no outro serviço.')
  if (fault === 'email')
    return t('O outro serviço não confirmou o seu e-mail. Confirme-o lá, ou peça um link daqui.')
  if (fault === 'ligar')
    return t('Já existe um cadastro com este e-mail. Entre por um link para confirmar que é seu.')
  return t('A entrada pelo outro serviço não deu certo. Tente de novo.')
}

/** The path as the address bar shows it, without characters that only this page reads as text. */
function asAddress(path: string): string {
  const { pathname, search, hash } = new URL(path, 'https://catraca.invalid')
  const address = `${pathname}${search}${hash}`
  return address.length > ADDRESS_MAX ? pathname : address
}

import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type SubmitEvent } from 'react'
import { sendConfirmation, signUp } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { legalQuery } from '../../api/legal.ts'
import { Button } from '../../components/Button.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { Notice } from '../../components/Notice.tsx'
import { TermsCheckbox } from '../../components/TermsCheckbox.tsx'
import { keptReferralCode } from '../../lib/referral-code.ts'
import { CheckMail } from './CheckMail.tsx'
import { emailFault } from './email-fault.ts'
import { EmailField } from './EmailField.tsx'
import { ReferralField } from './ReferralField.tsx'
import { ProviderEntrance } from './ProviderEntrance.tsx'
import { SignInCard } from './SignInCard.tsx'
import { Terms } from './Terms.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { keepForAccount } from '../../language/chosen-language.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The server's minimum. */
const PASSWORD_CHARS_MIN = 10

interface Faults {
  nome?: string
  email?: string
  senha?: string
  termos?: string
}

export function SignUpPage() {
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [code, setCode] = useState(keptReferralCode)
  const [isAccepted, setAccepted] = useState(false)
  const [faults, setFaults] = useState<Faults>({})
  const create = useSubmit({
    mutationFn: async () => {
      const { version } = await queryClient.ensureQueryData(legalQuery)
      keepForAccount()
      return signUp({
        name: name.trim(),
        email: email.trim(),
        password,
        acceptedTerms: version,
        ...(code.trim() === '' ? {} : { referralCode: code.trim() }),
      })
    },
  })

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const found = {
      ...faultsOf(name, email, password),
      ...(isAccepted ? {} : { termos: t('Para criar a conta, aceite os termos.') }),
    }
    setFaults(found)
    const [first] = Object.keys(found)
    if (first === undefined) create.mutate()
    else document.getElementById(first)?.focus()
  }

  if (create.isSuccess) {
    return (
      <CheckMail email={email.trim()} onAgain={() => sendConfirmation(email.trim())}>
        {t(
          'Abra o link que enviamos e digite a senha que acabou de escolher: sua conta fica pronta na hora.',
        )}
      </CheckMail>
    )
  }
  return (
    <SignInCard
      title={t('Criar conta')}
      description={t('Modelos de IA pagos em reais, por Pix, sem mensalidade.')}
      below={
        <>
          <Trans
            id="Já tem conta? {link}"
            values={{
              link: (
                <Link
                  to="/entrar"
                  className="font-semibold text-accent underline underline-offset-4"
                >
                  {t('Entre')}
                </Link>
              ),
            }}
          />
        </>
      }
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {create.isError && (
          <Notice tone="danger" role="alert">
            {explainError(create.error)}
          </Notice>
        )}
        <Field label={t('Nome')} error={faults.nome} id="nome">
          {(control) => (
            <Input
              {...control}
              name="name"
              autoComplete="name"
              maxLength={120}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <EmailField value={email} error={faults.email} onChange={setEmail} />
        <Field
          label={t('Senha')}
          error={faults.senha}
          id="senha"
          hint={t('Ao menos {passwordCharsMin} caracteres. Uma frase curta é fácil de lembrar.', {
            passwordCharsMin: PASSWORD_CHARS_MIN,
          })}
        >
          {(control) => (
            <Input
              {...control}
              type="password"
              name="password"
              autoComplete="new-password"
              value={password}
              onChange={(event) => setPassword(event.target.value)}
            />
          )}
        </Field>
        <ReferralField code={code} onChange={setCode} />
        <TermsCheckbox isChecked={isAccepted} error={faults.termos} onChange={setAccepted} />
        <Button type="submit" isBusy={create.isPending} className="w-full">
          {t('Criar conta')}
        </Button>
        <Terms />
      </form>
      <ProviderEntrance {...(code.trim() === '' ? {} : { referralCode: code.trim() })} />
    </SignInCard>
  )
}

function faultsOf(name: string, email: string, password: string): Faults {
  const wrongEmail = emailFault(email)
  return {
    ...(name.trim() === '' ? { nome: t('Digite seu nome.') } : {}),
    ...(wrongEmail ? { email: wrongEmail } : {}),
    ...(password.length < PASSWORD_CHARS_MIN
      ? {
          senha: t('Use ao menos {passwordCharsMin} caracteres.', {
            passwordCharsMin: PASSWORD_CHARS_MIN,
          }),
        }
      : {}),
  }
}

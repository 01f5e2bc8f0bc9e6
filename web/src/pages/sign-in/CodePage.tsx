import { getRouteApi, Link, useRouter } from '@tanstack/react-router'
import { useState, type SubmitEvent } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { giveCode } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { CodeField } from '../../components/CodeField.tsx'
import { Notice } from '../../components/Notice.tsx'
import { SignInCard } from './SignInCard.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

const route = getRouteApi('/open/entrar/codigo')

/** The second step of a sign-in, for users with a second factor. */
export function CodePage() {
  const { voltar = '/' } = route.useSearch()
  const router = useRouter()
  const [code, setCode] = useState('')
  const [isBackup, setIsBackup] = useState(false)
  const [fault, setFault] = useState<string>()
  const give = useSubmit({
    mutationFn: () => giveCode(code),
    onSuccess: () => router.history.push(voltar),
    onError: () => document.getElementById('codigo')?.focus(),
  })
  const isOver = give.error instanceof ApiError && give.error.code === 'SIGN_IN_AGAIN'

  function submit(event: SubmitEvent): void {
    event.preventDefault()
    const wrong = code.trim() === '' ? t('Digite o código.') : undefined
    setFault(wrong)
    if (wrong === undefined) give.mutate()
    else document.getElementById('codigo')?.focus()
  }

  return (
    <SignInCard
      title={t('Verificação em duas etapas')}
      description={
        isBackup
          ? t('Digite um dos códigos de reserva que você guardou. Cada um vale uma vez.')
          : t('Abra o aplicativo autenticador e digite o código de seis dígitos da Catraca.')
      }
      below={
        <Link
          to="/entrar"
          search={{ voltar }}
          className="font-semibold text-accent underline underline-offset-4"
        >
          {t('Entrar de outra forma')}
        </Link>
      }
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        {give.error && (
          <Notice tone="danger" role="alert">
            {explainError(give.error)}
          </Notice>
        )}
        {isOver ? (
          <Link to="/entrar" search={{ voltar }} className={buttonClass('primary', 'w-full')}>
            {t('Entrar de novo')}
          </Link>
        ) : (
          <>
            <CodeField
              id="codigo"
              label={isBackup ? t('Código de reserva') : t('Código do aplicativo')}
              isBackup={isBackup}
              value={code}
              error={fault}
              onChange={setCode}
            />
            <Button type="submit" isBusy={give.isPending} className="w-full">
              {t('Confirmar')}
            </Button>
            <Button
              variant="quiet"
              className="w-full"
              onClick={() => {
                setIsBackup(!isBackup)
                setCode('')
                setFault(undefined)
                give.reset()
                document.getElementById('codigo')?.focus()
              }}
            >
              {isBackup ? t('Usar o código do aplicativo') : t('Usar código de reserva')}
            </Button>
          </>
        )}
      </form>
    </SignInCard>
  )
}

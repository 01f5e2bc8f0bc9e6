import { sendConfirmation } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Notice } from '../../components/Notice.tsx'
import { CheckMail } from './CheckMail.tsx'
import { SignInCard } from './SignInCard.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

/** The password is right, but the e-mail address is not confirmed yet. */
export function ConfirmFirst({ email }: { email: string }) {
  const send = useSubmit({ mutationFn: () => sendConfirmation(email) })
  if (send.isSuccess) {
    return (
      <CheckMail email={email} onAgain={() => send.mutateAsync()}>
        {t('Abra o link que enviamos e digite sua senha para confirmar o e-mail.')}
      </CheckMail>
    )
  }
  return (
    <SignInCard
      title={t('Falta confirmar seu e-mail')}
      description={t(
        'Enviamos um link quando você criou a conta. Abra-o para entrar, ou peça outro.',
      )}
    >
      <div className="flex flex-col gap-4">
        {send.isError && (
          <Notice tone="danger" role="alert">
            {explainError(send.error)}
          </Notice>
        )}
        <Button isBusy={send.isPending} onClick={() => send.mutate()} className="w-full">
          {t('Enviar outro link')}
        </Button>
      </div>
    </SignInCard>
  )
}

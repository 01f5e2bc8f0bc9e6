import { useQuery } from '@tanstack/react-query'
import { MailCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Notice } from '../../components/Notice.tsx'
import { SignInCard } from './SignInCard.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'

interface CheckMailProps {
  email: string
  onAgain: () => Promise<unknown>
  children: ReactNode
}

/** Shown after a mail was sent: what to do with it, and what to do if it does not arrive. */
export function CheckMail({ email, onAgain, children }: CheckMailProps) {
  const again = useSubmit({ mutationFn: onAgain })
  const { data: health } = useQuery({ queryKey: ['healthz'], queryFn: () => api.get('/healthz') })
  return (
    <SignInCard title={t('Confira seu e-mail')}>
      <div role="status" className="flex items-start gap-3">
        <MailCheck aria-hidden="true" className="mt-0.5 size-5 shrink-0 text-accent" />
        <div className="min-w-0">
          <p className="font-semibold break-words">{email}</p>
          <p className="mt-1 text-muted">{children}</p>
        </div>
      </div>
      {health?.mode === 'sandbox' && (
        <a href="/mailbox" className={buttonClass('primary', 'mt-6 w-full')}>
          {t('Abrir a caixa de e-mails do modo de teste')}
        </a>
      )}
      <div className="mt-6 flex flex-col gap-3 border-t border-line pt-6 text-sm text-muted">
        <p>{t('Não chegou? Veja também a pasta de spam, ou peça de novo.')}</p>
        {again.isError && (
          <Notice tone="danger" role="alert">
            {explainError(again.error)}
          </Notice>
        )}
        {again.isSuccess && (
          <Notice tone="success" role="status">
            {t('Enviamos outro e-mail. Só o mais recente vale.')}
          </Notice>
        )}
        <Button variant="secondary" isBusy={again.isPending} onClick={() => again.mutate()}>
          {t('Enviar de novo')}
        </Button>
      </div>
    </SignInCard>
  )
}

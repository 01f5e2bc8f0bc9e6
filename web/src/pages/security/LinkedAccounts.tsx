import { useQueryClient } from '@tanstack/react-query'
import { UserRound } from 'lucide-react'
import { useState } from 'react'
import { PROVIDER_NAMES } from '../../api/auth.ts'
import { explainError } from '../../api/explain-error.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { useToast } from '../../components/Toast.tsx'
import { SECURITY, unlinkProvider, type LinkedAccount, type Security } from './security-queries.ts'
import type { WithProof } from './use-proof.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface LinkedAccountsProps {
  readonly security: Security
  readonly withProof: WithProof
}

/** The address of each is the account's own: with another one it signs nobody in here. */
export function LinkedAccounts({ security, withProof }: LinkedAccountsProps) {
  const { email, hasPassword, linkedAccounts } = security
  const [unlinking, setUnlinking] = useState<LinkedAccount>()
  const queries = useQueryClient()
  const toast = useToast()
  const unlink = useSubmit({
    mutationFn: ({ provider }: LinkedAccount) => withProof(() => unlinkProvider(provider)),
    async onSuccess() {
      setUnlinking(undefined)
      toast(t('Conta desvinculada.'))
      await queries.invalidateQueries({ queryKey: SECURITY })
    },
  })
  const provider = unlinking ? PROVIDER_NAMES[unlinking.provider] : ''
  return (
    <Card
      title={t('Contas vinculadas')}
      description={t('Contas de outros serviços com que você entra aqui, sem senha.')}
    >
      <ul className="divide-y divide-line">
        {linkedAccounts.map((account) => (
          <li key={account.provider} className="flex flex-wrap items-center gap-3 py-3">
            <UserRound aria-hidden="true" className="size-5 shrink-0 text-muted" />
            <div className="min-w-0 grow basis-40">
              <p className="font-medium">{PROVIDER_NAMES[account.provider]}</p>
              <p className="text-sm break-words text-muted">
                {email} ·{' '}
                <Trans
                  id="desde {dateTime}"
                  values={{ dateTime: <DateTime instant={account.createdAt} isDateOnly /> }}
                />
              </p>
            </div>
            <Button
              variant="quiet"
              aria-label={t('Desvincular {provider}', {
                provider: PROVIDER_NAMES[account.provider],
              })}
              onClick={() => setUnlinking(account)}
            >
              {t('Desvincular')}
            </Button>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        isOpen={unlinking !== undefined}
        onClose={() => {
          setUnlinking(undefined)
          unlink.reset()
        }}
        onConfirm={() => unlinking && unlink.mutate(unlinking)}
        title={t('Desvincular a conta {provider}?', { provider })}
        confirmText={t('Desvincular conta')}
        isBusy={unlink.isPending}
        error={unlink.error ? explainError(unlink.error) : undefined}
      >
        <p className="text-sm">
          {hasPassword
            ? t('Você continua entrando com sua senha ou por um link enviado a {email}.', { email })
            : t('Você continua entrando por um link enviado a {email}.', { email })}{' '}
          {t('As outras sessões são encerradas.')}
        </p>
        <p className="text-sm text-muted">
          {t(
            'Quem entrar com a conta {provider} outra vez a vincula de novo, enquanto o endereço dela for o seu, e você recebe um e-mail. Para que só ela não baste, ligue a verificação em duas etapas.',
            { provider },
          )}
        </p>
      </ConfirmDialog>
    </Card>
  )
}

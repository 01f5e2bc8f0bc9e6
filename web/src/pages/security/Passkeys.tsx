import { useQueryClient } from '@tanstack/react-query'
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { explainError } from '../../api/explain-error.ts'
import { hasPasskeys } from '../../api/passkeys.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { useToast } from '../../components/Toast.tsx'
import { NewPasskey } from './NewPasskey.tsx'
import { removePasskey, SECURITY, type Passkey } from './security-queries.ts'
import type { WithProof } from './use-proof.tsx'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

interface PasskeysProps {
  readonly passkeys: readonly Passkey[]
  readonly withProof: WithProof
}

export function Passkeys({ passkeys, withProof }: PasskeysProps) {
  const [isAdding, setIsAdding] = useState(false)
  const [removing, setRemoving] = useState<Passkey>()
  const queries = useQueryClient()
  const toast = useToast()
  const remove = useSubmit({
    mutationFn: (id: string) => withProof(() => removePasskey(id)),
    async onSuccess() {
      setRemoving(undefined)
      toast(t('Chave de acesso removida.'))
      await queries.invalidateQueries({ queryKey: SECURITY })
    },
  })
  const canAdd = hasPasskeys()
  return (
    <Card
      title={t('Chaves de acesso (passkeys)')}
      description={t('Entre com a digital, o rosto ou o PIN do dispositivo.')}
      actions={
        canAdd && (
          <Button variant="secondary" onClick={() => setIsAdding(true)}>
            {t('Adicionar chave de acesso')}
          </Button>
        )
      }
    >
      {passkeys.length === 0 && (
        <p className="text-sm text-muted">
          {canAdd
            ? t('Nenhuma ainda.')
            : t('Nenhuma ainda. Este navegador não cria chaves de acesso nesta página.')}
        </p>
      )}
      {passkeys.length > 0 && (
        <ul className="divide-y divide-line">
          {passkeys.map((passkey) => (
            <li key={passkey.id} className="flex flex-wrap items-center gap-3 py-3">
              <Fingerprint aria-hidden="true" className="size-5 shrink-0 text-muted" />
              <div className="min-w-0 grow">
                <p className="font-medium break-words">{passkey.name}</p>
                <p className="text-sm text-muted">
                  <Trans
                    id="Desde {dateTime}"
                    values={{ dateTime: <DateTime instant={passkey.createdAt} isDateOnly /> }}
                  />
                </p>
              </div>
              <Button
                variant="quiet"
                aria-label={t('Remover {name}', { name: passkey.name })}
                onClick={() => setRemoving(passkey)}
              >
                {t('Remover')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      <NewPasskey isOpen={isAdding} withProof={withProof} onClose={() => setIsAdding(false)} />
      <ConfirmDialog
        isOpen={removing !== undefined}
        onClose={() => {
          setRemoving(undefined)
          remove.reset()
        }}
        onConfirm={() => removing && remove.mutate(removing.id)}
        title={t('Remover “{name}”?', { name: removing?.name ?? '' })}
        confirmText={t('Remover chave de acesso')}
        isBusy={remove.isPending}
        error={remove.error ? explainError(remove.error) : undefined}
      >
        <p className="text-sm">
          {t('Ela deixa de dar acesso a esta conta. Apague-a também no dispositivo.')}{' '}
          {t('As outras sessões são encerradas.')}
        </p>
      </ConfirmDialog>
    </Card>
  )
}

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { useToast } from '../../components/Toast.tsx'
import { counted } from '../../format/number.ts'
import { API_KEYS, type ApiKey } from './key-queries.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export type ToRevoke = readonly ApiKey[] | 'all'

/** The user types it to confirm revoking every key at once. */
const WORD = 'revogar'

interface RevokeKeysProps {
  /** Undefined: the dialog is closed. */
  readonly keys: ToRevoke | undefined
  readonly onClose: () => void
  readonly onRevoked: () => void
}

export function RevokeKeys({ keys, onClose, onRevoked }: RevokeKeysProps) {
  const [typed, setTyped] = useState('')
  const queries = useQueryClient()
  const toast = useToast()
  const revoke = useSubmit({
    mutationFn: revokeThem,
    async onSuccess({ revoked, gatewayFailures }) {
      onRevoked()
      setTyped('')
      toast(`${counted(revoked, t('chave revogada'), t('chaves revogadas'))}.`)
      if (gatewayFailures > 0)
        toast(
          t('{gatewayFailures}. Tente de novo.', {
            gatewayFailures: counted(
              gatewayFailures,
              t('chave não foi revogada'),
              t('chaves não foram revogadas'),
            ),
          }),
          'danger',
        )
      await queries.invalidateQueries({ queryKey: API_KEYS })
    },
  })
  const one = keys !== 'all' && keys?.length === 1 ? keys[0] : undefined
  return (
    <ConfirmDialog
      isOpen={keys !== undefined}
      onClose={() => {
        setTyped('')
        revoke.reset()
        onClose()
      }}
      onConfirm={() => keys && revoke.mutate(keys)}
      title={titleOf(keys)}
      confirmText={one ? t('Revogar chave') : t('Revogar chaves')}
      isBusy={revoke.isPending}
      isDisabled={keys === 'all' && typed.trim().toLowerCase() !== WORD}
      error={revoke.error ? explainError(revoke.error) : undefined}
    >
      <p className="text-sm">
        <Trans
          id="{word} de ser atendido na hora. Uma chave revogada não volta: será preciso criar outra."
          values={{ word: one ? t('Quem usa esta chave para') : t('Quem usa estas chaves para') }}
        />
      </p>
      {keys === 'all' && (
        <Field
          label={
            <>
              <Trans id="Para confirmar, digite {word}" values={{ word: WORD }} />
            </>
          }
        >
          {(control) => (
            <Input
              {...control}
              autoComplete="off"
              autoCapitalize="none"
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
      )}
    </ConfirmDialog>
  )
}

function titleOf(keys: ToRevoke | undefined): string {
  if (keys === 'all') return t('Revogar todas as chaves?')
  if (keys?.length === 1) return t('Revogar “{name}”?', { name: keys[0]?.name })
  return t('Revogar {keys} chaves?', { keys: keys?.length ?? 0 })
}

async function revokeThem(keys: ToRevoke): Promise<{ revoked: number; gatewayFailures: number }> {
  if (keys === 'all') return api.post('/api-keys/bulk-revoke', { all: true })
  const [only] = keys
  if (keys.length > 1 || !only)
    return api.post('/api-keys/bulk-revoke', { ids: keys.map(({ id }) => id) })
  await api.delete('/api-keys/{id}', { path: { id: only.id } })
  return { revoked: 1, gatewayFailures: 0 }
}

import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { API_KEYS } from '../keys/key-queries.ts'
import { useTeamAct, type TeamKey } from './team-queries.ts'
import { t } from '../../language/t.ts'

interface RevokeTeamKeyProps {
  readonly teamId: string
  /** Undefined: the dialog is closed. */
  readonly teamKey: TeamKey | undefined
  readonly onClose: () => void
}

export function RevokeTeamKey({ teamId, teamKey, onClose }: RevokeTeamKeyProps) {
  const revoke = useTeamAct({
    act: (keyId: string) =>
      api.delete('/me/teams/{id}/keys/{keyId}', { path: { id: teamId, keyId } }),
    done: () => t('Chave revogada.'),
    // The owner's list of keys contains it, too.
    alsoChanges: API_KEYS,
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={teamKey !== undefined}
      onClose={() => {
        revoke.reset()
        onClose()
      }}
      onConfirm={() => teamKey && revoke.mutate(teamKey.id)}
      title={t('Revogar “{name}”?', { name: teamKey?.name ?? '' })}
      confirmText={t('Revogar chave')}
      isBusy={revoke.isPending}
      error={revoke.error ? explainError(revoke.error) : undefined}
    >
      <p className="text-sm">
        {t(
          'Quem usa esta chave para de ser atendido na hora. Uma chave revogada não volta: será preciso criar outra.',
        )}
      </p>
    </ConfirmDialog>
  )
}

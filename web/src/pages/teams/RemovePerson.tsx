import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { useTeamAct, type Person } from './team-queries.ts'
import { t } from '../../language/t.ts'

interface RemovePersonProps {
  readonly teamId: string
  /** Undefined: the dialog is closed. */
  readonly person: Person | undefined
  readonly onClose: () => void
}

export function RemovePerson({ teamId, person, onClose }: RemovePersonProps) {
  const remove = useTeamAct({
    act: (customerId: string) =>
      api.delete('/me/teams/{id}/members/{customerId}', { path: { id: teamId, customerId } }),
    done: () => t('A pessoa saiu da equipe.'),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={person !== undefined}
      onClose={() => {
        remove.reset()
        onClose()
      }}
      onConfirm={() => person && remove.mutate(person.customer_id)}
      title={t('Tirar {name} da equipe?', { name: person?.name ?? '' })}
      confirmText={t('Tirar da equipe')}
      isBusy={remove.isPending}
      error={remove.error ? explainError(remove.error) : undefined}
    >
      <p className="text-sm">
        {t(
          'As chaves que essa pessoa criou são revogadas na hora, e não voltam. O que já foi gasto continua contando no mês.',
        )}
      </p>
    </ConfirmDialog>
  )
}

import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { useTeamAct, type Person, type Role } from './team-queries.ts'
import { t } from '../../language/t.ts'

interface ChangeRoleProps {
  readonly teamId: string
  /** Undefined: the dialog is closed. */
  readonly person: Person | undefined
  readonly onClose: () => void
}

/** Needs a confirmation: an admin decides how much of the owner's money is spent. */
export function ChangeRole({ teamId, person, onClose }: ChangeRoleProps) {
  const role: Role = person?.role === 'admin' ? 'member' : 'admin'
  const change = useTeamAct({
    act: (customerId: string) =>
      api.patch(
        '/me/teams/{id}/members/{customerId}',
        { role },
        { path: { id: teamId, customerId } },
      ),
    done: () => t('Papel alterado.'),
    onDone: onClose,
  })
  return (
    <ConfirmDialog
      isOpen={person !== undefined}
      onClose={() => {
        change.reset()
        onClose()
      }}
      onConfirm={() => person && change.mutate(person.customer_id)}
      title={t('Tornar {name} {word}?', {
        name: person?.name ?? '',
        word: role === 'admin' ? 'admin' : t('membro'),
      })}
      confirmText={role === 'admin' ? t('Tornar administrador') : t('Tornar membro')}
      variant="primary"
      isBusy={change.isPending}
      error={change.error ? explainError(change.error) : undefined}
    >
      <p className="text-sm">
        {role === 'admin'
          ? t(
              'Um administrador convida e remove pessoas, muda o nome e o limite por mês, e vê e revoga todas as chaves da equipe.',
            )
          : t(
              'Deixa de administrar a equipe. As chaves que criou continuam; os convites que fez e ninguém aceitou deixam de valer.',
            )}
      </p>
    </ConfirmDialog>
  )
}

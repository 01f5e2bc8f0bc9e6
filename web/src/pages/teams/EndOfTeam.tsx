import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { sessionQuery } from '../../api/session.ts'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx'
import { Field } from '../../components/Field.tsx'
import { Input } from '../../components/Input.tsx'
import { API_KEYS } from '../keys/key-queries.ts'
import { TEAMS, useTeamAct, type Team } from './team-queries.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** Owners can delete the team; other members can leave it. */
export function EndOfTeam({ team }: { readonly team: Team }) {
  return team.role === 'owner' ? <DeleteTeam team={team} /> : <LeaveTeam team={team} />
}

function LeaveTeam({ team }: { readonly team: Team }) {
  const [isOpen, setOpen] = useState(false)
  const { data: session } = useQuery(sessionQuery)
  const goBack = useWayBack(team.id)
  const leave = useTeamAct({
    act: (customerId: string) =>
      api.delete('/me/teams/{id}/members/{customerId}', { path: { id: team.id, customerId } }),
    done: () => t('Você saiu da equipe {name}.', { name: team.name }),
    onDone: goBack,
  })
  return (
    <Card
      title={t('Sair da equipe')}
      description={t('As chaves que você criou nela são revogadas na hora.')}
    >
      <Button variant="secondary" onClick={() => setOpen(true)}>
        {t('Sair da equipe')}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={() => session && leave.mutate(session.customer.id)}
        title={t('Sair da equipe “{name}”?', { name: team.name })}
        confirmText={t('Sair da equipe')}
        isBusy={leave.isPending}
        error={leave.error ? explainError(leave.error) : undefined}
      >
        <p className="text-sm">
          {t(
            'Os programas que usam as suas chaves desta equipe param na hora. Para voltar, você precisa de outro convite.',
          )}
        </p>
      </ConfirmDialog>
    </Card>
  )
}

function DeleteTeam({ team }: { readonly team: Team }) {
  const [isOpen, setOpen] = useState(false)
  const [typed, setTyped] = useState('')
  const goBack = useWayBack(team.id)
  const remove = useTeamAct({
    act: () => api.delete('/me/teams/{id}', { path: { id: team.id } }),
    done: () => t('Equipe {name} excluída.', { name: team.name }),
    alsoChanges: API_KEYS,
    onDone: goBack,
  })
  const close = (): void => {
    setOpen(false)
    setTyped('')
    remove.reset()
  }
  return (
    <Card
      title={t('Excluir equipe')}
      description={t(
        'Revoga todas as chaves e todos os convites dela. O que já foi gasto fica no seu histórico.',
      )}
    >
      <Button variant="danger" onClick={() => setOpen(true)}>
        {t('Excluir equipe')}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        onClose={close}
        onConfirm={() => remove.mutate(undefined)}
        title={t('Excluir a equipe “{name}”?', { name: team.name })}
        confirmText={t('Excluir para sempre')}
        isBusy={remove.isPending}
        isDisabled={typed.trim() !== team.name.trim()}
        error={remove.error ? explainError(remove.error) : undefined}
      >
        <p className="text-sm">
          {t('Os programas que usam chaves desta equipe param na hora. Não há como voltar atrás.')}
        </p>
        <Field
          label={
            <>
              <Trans id="Para confirmar, digite {name}" values={{ name: team.name }} />
            </>
          }
        >
          {(control) => (
            <Input
              {...control}
              autoComplete="off"
              spellCheck={false}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
            />
          )}
        </Field>
      </ConfirmDialog>
    </Card>
  )
}

/** Goes to the list first, so that no query asks for a team that no longer exists. */
function useWayBack(teamId: string): () => Promise<void> {
  const navigate = useNavigate()
  const queries = useQueryClient()
  return async () => {
    await navigate({ to: '/equipes', replace: true })
    queries.removeQueries({ queryKey: [...TEAMS, teamId] })
  }
}

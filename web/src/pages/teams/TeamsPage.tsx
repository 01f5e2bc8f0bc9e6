import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus, Users } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { LoadMore } from '../../components/LoadMore.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { ReceivedInvitations } from './ReceivedInvitations.tsx'
import { TeamDialog } from './TeamDialog.tsx'
import { TeamEntry } from './TeamEntry.tsx'
import { teamListQuery } from './team-queries.ts'
import { t } from '../../language/t.ts'

export function TeamsPage() {
  const list = useInfiniteQuery(teamListQuery)
  const [isCreating, setCreating] = useState(false)
  const navigate = useNavigate()
  const teams = list.data?.pages.flatMap((page) => page.teams)
  const create = (
    <Button icon={<Plus aria-hidden="true" className="size-4" />} onClick={() => setCreating(true)}>
      {t('Criar equipe')}
    </Button>
  )
  return (
    <>
      <PageTitle
        title={t('Equipes')}
        description={t(
          'Várias pessoas e um saldo só: o de quem criou a equipe, até o limite por mês.',
        )}
        actions={teams !== undefined && teams.length > 0 && create}
      />
      <div className="grid gap-5">
        <ReceivedInvitations />
        {list.isPending && (
          <Card>
            <SkeletonRows label={t('Carregando as equipes')} />
          </Card>
        )}
        {list.isError && !teams && (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        )}
        {teams?.length === 0 && (
          <Card>
            <EmptyState
              icon={<Users className="size-6" />}
              title={t('Nenhuma equipe ainda')}
              action={create}
            >
              {t(
                'Convide pessoas por e-mail: cada uma cria as próprias chaves, todas gastam do seu saldo, e você vê quanto cada uma gastou. Ninguém passa do limite do mês nem vê o resto da sua conta.',
              )}
            </EmptyState>
          </Card>
        )}
        {teams !== undefined && teams.length > 0 && (
          <ul className="grid gap-4 lg:grid-cols-2">
            {teams.map((team) => (
              <TeamEntry key={team.id} team={team} />
            ))}
          </ul>
        )}
        <LoadMore query={list} />
      </div>
      <TeamDialog
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onMade={({ id }) => void navigate({ to: '/equipes/$id', params: { id } })}
      />
    </>
  )
}

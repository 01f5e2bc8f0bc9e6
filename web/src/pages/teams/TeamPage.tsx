import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { ApiError } from '../../api/api-error.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { buttonClass } from '../../components/button-class.ts'
import { Card } from '../../components/Card.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { PageTitle } from '../../components/PageTitle.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { EndOfTeam } from './EndOfTeam.tsx'
import { SentInvitations } from './SentInvitations.tsx'
import { TeamDialog } from './TeamDialog.tsx'
import { TeamKeys } from './TeamKeys.tsx'
import { TeamMonth } from './TeamMonth.tsx'
import { TeamPeople } from './TeamPeople.tsx'
import { teamQuery, type Team } from './team-queries.ts'
import { isManager, RANK_WORDS } from './team-words.ts'
import { t } from '../../language/t.ts'

export function TeamPage() {
  const { id = '' } = useParams({ strict: false })
  const found = useQuery(teamQuery(id))
  return (
    <>
      <Link
        to="/equipes"
        className="mb-3 inline-flex min-h-11 items-center gap-2 text-sm font-medium text-muted hover:text-ink"
      >
        <ArrowLeft aria-hidden="true" className="size-4" />
        {t('Todas as equipes')}
      </Link>
      {found.data && !isGone(found.error) ? (
        <Details team={found.data} />
      ) : (
        <>
          <PageTitle title={t('Equipe')} />
          {found.isPending ? (
            <Card>
              <SkeletonRows label={t('Carregando a equipe')} />
            </Card>
          ) : (
            <Failure error={found.error} onRetry={() => void found.refetch()} />
          )}
        </>
      )}
    </>
  )
}

function Details({ team }: { readonly team: Team }) {
  const [isEditing, setEditing] = useState(false)
  const { text, tone } = RANK_WORDS()[team.role]
  return (
    <>
      <PageTitle
        title={team.name}
        description={
          <>
            {t('Seu papel: ')}
            <Badge tone={tone}>{text}</Badge>
          </>
        }
        actions={
          isManager(team.role) && (
            <Button variant="secondary" onClick={() => setEditing(true)}>
              {t('Alterar nome ou limite')}
            </Button>
          )
        }
      />
      <div className="grid gap-5">
        <TeamMonth team={team} />
        <TeamPeople team={team} />
        {isManager(team.role) && <SentInvitations team={team} />}
        <TeamKeys team={team} />
        <EndOfTeam team={team} />
      </div>
      <TeamDialog team={team} isOpen={isEditing} onClose={() => setEditing(false)} />
    </>
  )
}

/** After a 404 the team is gone, and its cached data is stale. */
function isGone(error: Error | null): boolean {
  return error instanceof ApiError && error.status === 404
}

function Failure({
  error,
  onRetry,
}: {
  readonly error: Error | null
  readonly onRetry: () => void
}) {
  if (!isGone(error)) return <ErrorState error={error} onRetry={onRetry} />
  return (
    <Card>
      <EmptyState
        title={t('Esta equipe não existe mais, ou você saiu dela')}
        action={
          <Link to="/equipes" className={buttonClass('secondary')}>
            {t('Ver todas as equipes')}
          </Link>
        }
      />
    </Card>
  )
}

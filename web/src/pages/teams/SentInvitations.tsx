import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/SkeletonRows.tsx'
import { useToast } from '../../components/Toast.tsx'
import { InviteDialog } from './InviteDialog.tsx'
import { sentInvitationsQuery, useTeamAct, type Invitation, type Team } from './team-queries.ts'
import { RANK_WORDS } from './team-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

export function SentInvitations({ team }: { readonly team: Team }) {
  const sent = useQuery(sentInvitationsQuery(team.id))
  const [isInviting, setInviting] = useState(false)
  return (
    <Card
      title={t('Convites em aberto')}
      description={t('Valem sete dias, só para aquele e-mail.')}
      actions={
        <Button
          onClick={() => setInviting(true)}
          icon={<Plus aria-hidden="true" className="size-4" />}
        >
          {t('Convidar')}
        </Button>
      }
    >
      {sent.isPending && <SkeletonRows rows={1} label={t('Carregando os convites')} />}
      {sent.isError && !sent.data && (
        <ErrorState error={sent.error} onRetry={() => void sent.refetch()} />
      )}
      {sent.data?.length === 0 && (
        <p className="text-sm text-muted">{t('Nenhum convite à espera de resposta.')}</p>
      )}
      {sent.data && sent.data.length > 0 && (
        <ul className="divide-y divide-line">
          {sent.data.map((invitation) => (
            <SentInvitation key={invitation.id} teamId={team.id} invitation={invitation} />
          ))}
        </ul>
      )}
      <InviteDialog teamId={team.id} isOpen={isInviting} onClose={() => setInviting(false)} />
    </Card>
  )
}

interface SentInvitationProps {
  readonly teamId: string
  readonly invitation: Invitation
}

function SentInvitation({ teamId, invitation }: SentInvitationProps) {
  const { id: invitationId, email, role, expires_at } = invitation
  const toast = useToast()
  const withdraw = useTeamAct({
    act: () =>
      api.delete('/me/teams/{id}/invitations/{invitationId}', {
        path: { id: teamId, invitationId },
      }),
    done: () => t('Convite cancelado.'),
  })
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1 py-3 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <span className="break-all">{email}</span>
          <Badge tone={RANK_WORDS()[role].tone}>{RANK_WORDS()[role].text}</Badge>
        </p>
        <p className="text-sm text-muted">
          <Trans
            id="Vale até {dateTime}"
            values={{ dateTime: <DateTime instant={expires_at} /> }}
          />
        </p>
      </div>
      <Button
        variant="quiet"
        className="-ml-3 px-3"
        isBusy={withdraw.isPending}
        aria-label={t('Cancelar o convite para {email}', { email })}
        onClick={() =>
          withdraw.mutate(undefined, { onError: (error) => toast(explainError(error), 'danger') })
        }
      >
        {t('Retirar')}
      </Button>
    </li>
  )
}

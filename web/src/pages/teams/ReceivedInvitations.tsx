import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { explainError } from '../../api/explain-error.ts'
import { Badge } from '../../components/Badge.tsx'
import { Button } from '../../components/Button.tsx'
import { Card } from '../../components/Card.tsx'
import { DateTime } from '../../components/DateTime.tsx'
import { Notice } from '../../components/Notice.tsx'
import { receivedQuery, useTeamAct, type Received } from './team-queries.ts'
import { RANK_WORDS, ROLE_HINTS } from './team-words.ts'
import { t } from '../../language/t.ts'
import { Trans } from '../../language/Trans.tsx'

/** The customer's open invitations; renders nothing without one. */
export function ReceivedInvitations() {
  const { data: invitations = [] } = useQuery(receivedQuery)
  if (invitations.length === 0) return null
  return (
    <Card
      title={invitations.length === 1 ? t('Um convite para você') : t('Convites para você')}
      description={t(
        'Ao aceitar, você cria chaves que gastam o saldo de quem convida, e não o seu.',
      )}
      className="border-accent!"
    >
      <ul className="divide-y divide-line">
        {invitations.map((invitation) => (
          <ReceivedInvitation key={invitation.id} invitation={invitation} />
        ))}
      </ul>
    </Card>
  )
}

function ReceivedInvitation({ invitation }: { readonly invitation: Received }) {
  const { id, team_name, owner, role, expires_at } = invitation
  const path = { id }
  const accept = useTeamAct({
    act: (_input: void, once) => api.post('/me/invitations/{id}/accept', undefined, { path, once }),
    done: () => t('Você agora está na equipe {teamName}.', { teamName: team_name }),
    alsoChanges: receivedQuery.queryKey,
  })
  const decline = useTeamAct({
    act: () => api.delete('/me/invitations/{id}', { path }),
    done: () => t('Convite recusado.'),
    alsoChanges: receivedQuery.queryKey,
  })
  const error = accept.error ?? decline.error
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3 py-4 first:pt-0 last:pb-0">
      <div className="min-w-0">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          <span className="break-words">{team_name}</span>
          <Badge tone={RANK_WORDS()[role].tone}>{RANK_WORDS()[role].text}</Badge>
        </p>
        <p className="text-sm text-muted">
          <Trans
            id="De {owner} · {roleHints} Vale até {dateTime}."
            values={{
              owner,
              roleHints: ROLE_HINTS()[role],
              dateTime: <DateTime instant={expires_at} isDateOnly />,
            }}
          />
        </p>
      </div>
      <div className="flex gap-3">
        <Button
          isBusy={accept.isPending}
          aria-label={t('Aceitar o convite de {teamName}', { teamName: team_name })}
          onClick={() => accept.mutate(undefined)}
        >
          {t('Aceitar')}
        </Button>
        <Button
          variant="secondary"
          isBusy={decline.isPending}
          aria-label={t('Recusar o convite de {teamName}', { teamName: team_name })}
          onClick={() => decline.mutate(undefined)}
        >
          {t('Recusar')}
        </Button>
      </div>
      {error && (
        <Notice tone="danger" role="alert">
          {explainError(error)}
        </Notice>
      )}
    </li>
  )
}

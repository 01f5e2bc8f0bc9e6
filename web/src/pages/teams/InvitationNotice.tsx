import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Notice } from '../../components/Notice.tsx'
import { receivedQuery } from './team-queries.ts'
import { t } from '../../language/t.ts'

/** On the home page, where a user who signed up because of an invitation arrives. */
export function InvitationNotice() {
  const { data: invitations = [] } = useQuery(receivedQuery)
  const [first] = invitations
  if (!first) return null
  return (
    <Notice>
      {invitations.length === 1
        ? t('Convidaram você para a equipe {teamName}.', { teamName: first.team_name })
        : t('Você tem {invitations} convites para equipes.', {
            invitations: invitations.length,
          })}{' '}
      <Link to="/equipes" className="font-semibold text-accent underline underline-offset-4">
        {invitations.length === 1 ? t('Ver o convite') : t('Ver os convites')}
      </Link>
    </Notice>
  )
}

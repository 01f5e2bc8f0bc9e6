import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Notice } from '../../components/Notice.tsx'
import { receivedQuery } from './team-queries.ts'

/** On the home page, where a user who signed up because of an invitation arrives. */
export function InvitationNotice() {
  const { data: invitations = [] } = useQuery(receivedQuery)
  const [first] = invitations
  if (!first) return null
  return (
    <Notice>
      {invitations.length === 1
        ? `Convidaram você para a equipe ${first.team_name}.`
        : `Você tem ${invitations.length} convites para equipes.`}{' '}
      <Link to="/equipes" className="font-semibold text-accent underline underline-offset-4">
        {invitations.length === 1 ? 'Ver o convite' : 'Ver os convites'}
      </Link>
    </Notice>
  )
}

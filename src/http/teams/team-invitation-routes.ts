import Type from 'typebox'
import { findCustomer } from '../../customers/customers.ts'
import { inviteToTeam, revokeInvitation } from '../../customers/team-acts.ts'
import { findTeam } from '../../customers/teams.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import {
  listInvitations,
  OPEN_INVITATIONS_MAX,
  type TeamInvitation,
} from '../../customers/team-invitations.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, dateTime, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { originForMails } from '../rest/request-headers.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { refusalOfKey } from '../api-keys/make-api-key.ts'
import { actInTeam, getTeamAccess, teamParams, teamRole } from './team-access.ts'

type Deps = Pick<HttpParts, 'config' | 'db'>

/** The limit of an e-mail address (RFC 5321, 4.5.3.1.3). */
const EMAIL_LENGTH_MAX = 254
/** A page of the dashboard; visitors who are not signed in sign in first and then return to it. */
const TEAMS_PAGE = '/equipes'
/** For whoever has no account: its home page shows the invitation. */
const SIGN_UP_PAGE = '/cadastrar'

const shownFields = {
  id: uuid,
  email: Type.String(),
  role: teamRole,
  invited_by: uuid,
  created_at: dateTime,
  expires_at: dateTime,
}

const forBoth = {
  path: '/me/teams/:id/invitations',
  tag: 'Equipes',
  params: teamParams,
} as const

const listAndCreate = [
  restRoute({
    ...forBoth,
    method: 'GET',
    access: 'account',
    summary: 'Os convites em aberto de uma equipe',
    answer: answer({ invitations: Type.Array(answer(shownFields)) }),
    refusals: { 404: ['team_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const { teamId } = await getTeamAccess(deps.db, caller, params.id, 'admin')
      return { invitations: (await listInvitations(deps.db, teamId)).map(invitationBody) }
    },
  }),
  restRoute({
    ...forBoth,
    method: 'POST',
    access: 'manage',
    summary: 'Convida alguém para uma equipe; o convite vale sete dias',
    repeats: 'in_transaction',
    body: Type.Object(
      {
        email: Type.String({
          maxLength: EMAIL_LENGTH_MAX,
          pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
        }),
        role: teamRole,
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: answer({
      ...shownFields,
      token: Type.String({ description: 'Só é mostrado esta vez.' }),
    }),
    refusals: {
      404: ['team_not_found'],
      409: ['already_member', 'already_invited', 'too_many_invitations'],
      429: ['invitation_limit_reached'],
    },
    async handle({ caller, params, body, request, reply }, deps: Deps) {
      const { email, role } = body
      const origin = originForMails(deps.config, request)
      reply.header('cache-control', 'no-store')
      return actInTeam(deps.db, caller, params.id, 'admin', async (trx, access) => {
        const { teamId } = access
        const input = { access, email, role, invitedBy: caller.customerId }
        const created = await inviteToTeam(trx, actorOf(caller), input)
        if (created.kind === 'too_many_invitations')
          throw new RestRefusal(409, created.kind, `no máximo ${OPEN_INVITATIONS_MAX} em aberto`)
        if (created.kind === 'invitation_limit_reached') {
          reply.header('retry-after', created.retryAfter)
          throw new RestRefusal(429, created.kind, 'convites demais em um dia')
        }
        if (created.kind === 'already_member' || created.kind === 'already_invited')
          throw new RestRefusal(409, created.kind)
        if (created.kind === 'own_key_ended') return reply.code(401).send()
        if (created.kind !== 'created') throw refusalOfKey(created)
        const { invitation, token } = created
        const page = (await findCustomer(trx, invitation.email)) ? TEAMS_PAGE : SIGN_UP_PAGE
        await queueMail(trx, {
          customerId: caller.customerId,
          email: invitation.email,
          template: 'convite_equipe',
          reference: invitation.id,
          data: {
            team_name: (await findTeam(trx, { teamId, customerId: caller.customerId }))?.name,
            invited_by: (await findCustomer(trx, caller.customerId))?.name,
            role,
            token,
            ...(origin === undefined ? {} : { url: `${origin}${page}` }),
            expires_at: invitation.expiresAt.toISOString(),
          },
        })
        return { ...invitationBody(invitation), token }
      })
    },
  }),
]

const revoke = [
  restRoute({
    method: 'DELETE',
    path: '/me/teams/:id/invitations/:invitationId',
    tag: 'Equipes',
    summary: 'Revoga um convite em aberto',
    access: 'manage',
    params: { ...teamParams, invitationId: Type.String({ description: 'UUID do convite' }) },
    answer: answer({ id: uuid, revoked: Type.Literal(true) }),
    refusals: { 404: ['team_not_found', 'invitation_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const { invitationId } = params
      return actInTeam(deps.db, caller, params.id, 'admin', async (trx, access) => {
        const id = await revokeInvitation(trx, actorOf(caller), { access, invitationId })
        if (id === undefined) throw new RestRefusal(404, 'invitation_not_found')
        return { id, revoked: true as const }
      })
    },
  }),
]

export const teamInvitationRoutes = [...listAndCreate, ...revoke]

function invitationBody(invitation: TeamInvitation) {
  return {
    id: invitation.id,
    email: invitation.email,
    role: invitation.role,
    invited_by: invitation.invitedBy,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  }
}

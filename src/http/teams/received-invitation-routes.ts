/** The invitations that the caller received: listed, accepted and declined. */
import Type from 'typebox'
import { acceptInvitation, type InvitationProof } from '../../customers/accept-invitation.ts'
import { declineInvitation, listReceivedInvitations } from '../../customers/team-invitations.ts'
import { TEAM_MEMBERS_MAX } from '../../customers/team-members.ts'
import type { Database } from '../../platform/db/open.ts'
import { hasProvedEmail } from '../../identity/sign-in/prove-user.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { answer, dateTime, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { maskedName, teamRole } from './team-access.ts'

type Deps = Pick<HttpParts, 'db'>

/** More invitations than anybody answers. */
const RECEIVED_MAX = 100

const joined = answer({ team_id: uuid, team_name: Type.String(), role: teamRole })
const invitationParams = { id: Type.String({ description: 'UUID do convite' }) }

const list = [
  restRoute({
    method: 'GET',
    path: '/me/invitations',
    tag: 'Equipes',
    summary: 'Os convites em aberto para o próprio e-mail',
    access: 'account',
    answer: answer({
      invitations: Type.Array(
        answer({
          id: uuid,
          team_name: Type.String(),
          owner: Type.String({ description: 'A inicial de quem é dono da equipe.' }),
          role: teamRole,
          created_at: dateTime,
          expires_at: dateTime,
        }),
      ),
    }),
    async handle({ caller }, deps: Deps) {
      const received = await listReceivedInvitations(deps.db, caller.customerId, RECEIVED_MAX)
      return {
        invitations: received.map((each) => ({
          id: each.id,
          team_name: each.teamName,
          owner: maskedName(each.ownerName),
          role: each.role,
          created_at: each.createdAt.toISOString(),
          expires_at: each.expiresAt.toISOString(),
        })),
      }
    },
  }),
]

const forBoth = {
  method: 'POST',
  repeats: 'in_transaction',
  tag: 'Equipes',
  access: 'manage',
  answer: joined,
  refusals: { 404: ['invitation_not_found'], 409: ['already_member', 'too_many_members'] },
} as const

const accepting = [
  restRoute({
    ...forBoth,
    path: '/me/invitations/accept',
    summary: 'Aceita um convite feito para o próprio e-mail, com o código que chegou nele',
    body: Type.Object(
      { token: Type.String({ minLength: 1, maxLength: 200 }) },
      { additionalProperties: false },
    ),
    handle: ({ caller, body }, deps: Deps) => accept(deps.db, caller, { token: body.token }),
  }),
  restRoute({
    ...forBoth,
    path: '/me/invitations/:id/accept',
    summary: 'Aceita um convite sem o código: para quem já entrou no painel com aquele e-mail',
    params: invitationParams,
    handle: ({ caller, params }, deps: Deps) =>
      accept(deps.db, caller, { invitationId: params.id }),
  }),
]

async function accept(
  db: Database,
  caller: Caller,
  proof: InvitationProof,
): Promise<AnswerOf<typeof joined>> {
  const { customerId } = caller
  const input = { proof, customerId, hasProvedEmail }
  const accepted = await acceptInvitation(db, actorOf(caller), input)
  if (accepted.kind === 'invitation_not_found') throw new RestRefusal(404, accepted.kind)
  if (accepted.kind === 'email_not_proved')
    throw new RestRefusal(
      403,
      'forbidden',
      'entre por e-mail antes, ou aceite com o código do convite',
    )
  if (accepted.kind === 'too_many_members')
    throw new RestRefusal(409, accepted.kind, `no máximo ${TEAM_MEMBERS_MAX} membros`)
  if (accepted.kind !== 'joined') throw new RestRefusal(409, accepted.kind)
  const { teamId, teamName, role } = accepted
  return { team_id: teamId, team_name: teamName, role }
}

const decline = [
  restRoute({
    method: 'DELETE',
    path: '/me/invitations/:id',
    tag: 'Equipes',
    summary: 'Recusa um convite feito para o próprio e-mail',
    access: 'manage',
    params: invitationParams,
    answer: answer({ id: uuid, declined: Type.Literal(true) }),
    refusals: { 404: ['invitation_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const invitationId = params.id.toLowerCase()
      const input = { invitationId, customerId }
      if (!(await declineInvitation(deps.db, actorOf(caller), input)))
        throw new RestRefusal(404, 'invitation_not_found')
      return { id: invitationId, declined: true as const }
    },
  }),
]

export const receivedInvitationRoutes = [...list, ...accepting, ...decline]

import Type from 'typebox'
import { changeTeamMember, removeTeamMember } from '../../customers/team-acts.ts'
import type { TeamRank } from '../../customers/team-access.ts'
import { listTeamPeople, type TeamPerson } from '../../customers/team-members.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, brl, count, dateTime, nullable, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import {
  actInTeam,
  getTeamAccess,
  maskedName,
  teamParams,
  teamRank,
  teamRole,
} from './team-access.ts'

type Deps = Pick<HttpParts, 'db'>

const person = answer({
  customer_id: uuid,
  name: Type.String(),
  email: nullable(Type.String()),
  role: teamRank,
  key_count: nullable(count),
  requests_this_month: nullable(count),
  tokens_this_month: nullable(count),
  cost_billed_this_month_brl: nullable(brl),
  joined_at: dateTime,
})

const memberParams = {
  ...teamParams,
  customerId: Type.String({ description: 'UUID de quem é membro' }),
}

const changeMember = [
  restRoute({
    method: 'PATCH',
    path: '/me/teams/:id/members/:customerId',
    tag: 'Equipes',
    summary: 'Altera o papel de quem é membro',
    access: 'manage',
    params: memberParams,
    body: Type.Object({ role: teamRole }, { additionalProperties: false }),
    answer: answer({ customer_id: uuid, role: teamRole }),
    refusals: { 404: ['team_not_found', 'member_not_found'] },
    async handle({ caller, params, body }, deps: Deps) {
      const { role } = body
      const customerId = params.customerId.toLowerCase()
      await actInTeam(deps.db, caller, params.id, 'admin', async (trx, access) => {
        assertIsNot(access.ownerId, customerId)
        const input = { access, customerId, role }
        if (!(await changeTeamMember(trx, actorOf(caller), input)))
          throw new RestRefusal(404, 'member_not_found')
      })
      return { customer_id: customerId, role }
    },
  }),
]

const removeMember = [
  restRoute({
    method: 'DELETE',
    path: '/me/teams/:id/members/:customerId',
    tag: 'Equipes',
    summary: 'Tira alguém da equipe, ou sai dela, e revoga as chaves que essa pessoa criou',
    access: 'manage',
    params: memberParams,
    answer: answer({ customer_id: uuid, removed: Type.Literal(true) }),
    refusals: { 404: ['team_not_found', 'member_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const customerId = params.customerId.toLowerCase()
      const least = customerId === caller.customerId ? 'member' : 'admin'
      await actInTeam(deps.db, caller, params.id, least, async (trx, access) => {
        assertIsNot(access.ownerId, customerId)
        if (!(await removeTeamMember(trx, actorOf(caller), { access, customerId })))
          throw new RestRefusal(404, 'member_not_found')
      })
      return { customer_id: customerId, removed: true as const }
    },
  }),
]

export const teamMemberRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/teams/:id/members',
    tag: 'Equipes',
    summary:
      'Quem está na equipe e o que gastou por ela neste mês; membros veem dos outros só a inicial',
    access: 'account',
    params: teamParams,
    answer: answer({ owner: person, members: Type.Array(person) }),
    refusals: { 404: ['team_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const { teamId, rank } = await getTeamAccess(deps.db, caller, params.id, 'member')
      const people = await listTeamPeople(deps.db, teamId)
      const [owner, ...members] = people.map((each) =>
        personBody(each, { rank, isSelf: each.customerId === caller.customerId }),
      )
      if (!owner) throw new Error(`the team ${teamId} has no owner`)
      return { owner, members }
    },
  }),
  ...changeMember,
  ...removeMember,
]

/** The owner can be neither changed nor removed, even by the owner: the owner's account pays. */
function assertIsNot(ownerId: string, customerId: string): void {
  if (ownerId === customerId)
    throw new RestRefusal(403, 'forbidden', 'o dono não pode ser alterado nem removido')
}

/** Managers see every member in full; admins see only the first letter of the owner's name. */
function personBody(
  each: TeamPerson,
  { rank, isSelf }: { rank: TeamRank; isSelf: boolean },
): AnswerOf<typeof person> {
  const isKnown = isSelf || rank === 'owner' || (rank === 'admin' && each.rank !== 'owner')
  const hasUsage = isSelf || rank !== 'member'
  return {
    customer_id: each.customerId,
    name: isKnown ? each.name : maskedName(each.name),
    email: isKnown ? each.email : null,
    role: each.rank,
    key_count: hasUsage ? each.keyCount : null,
    requests_this_month: hasUsage ? each.requestCount : null,
    tokens_this_month: hasUsage ? each.tokenCount : null,
    cost_billed_this_month_brl: hasUsage ? jsonBrl(each.billedNanoBrl) : null,
    joined_at: each.joinedAt.toISOString(),
  }
}

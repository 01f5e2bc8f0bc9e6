import Type from 'typebox'
import { changeTeam, createTeam, deleteTeam } from '../../customers/team-acts.ts'
import { findTeam, listTeams, TEAMS_EVER_MAX, TEAMS_MAX } from '../../customers/teams.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { answer, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { refusalOfKey } from '../api-keys/make-api-key.ts'
import { actInTeam, teamParams } from './team-access.ts'
import { readCap, readTeamName, team, teamBody, teamChange, teamInput } from './team-body.ts'

type Deps = Pick<HttpParts, 'db'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const listAndCreate = [
  restRoute({
    method: 'GET',
    path: '/me/teams',
    tag: 'Equipes',
    summary: 'As equipes próprias e aquelas de que se é membro, a mais nova primeiro',
    access: 'account',
    query: { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor },
    answer: answer({ teams: Type.Array(team), next_cursor: nextCursor }),
    async handle({ caller, query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const teams = await listTeams(deps.db, caller.customerId, { after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(teams, limit, ({ id, createdAtExact }) => ({
        at: createdAtExact,
        id,
      }))
      return { teams: page.map(teamBody), next_cursor }
    },
  }),
  restRoute({
    method: 'POST',
    path: '/me/teams',
    tag: 'Equipes',
    summary: 'Cria uma equipe, cujas chaves gastam o saldo de quem a cria',
    repeats: 'in_transaction',
    access: 'account',
    body: teamInput,
    status: 201,
    answer: team,
    refusals: { 409: ['too_many_teams'] },
    async handle({ caller, body }, deps: Deps) {
      const name = readTeamName(body.name)
      const limitNanoBrl = readCap(body.monthly_cap_brl ?? null)
      const input = { ownerId: caller.customerId, name, limitNanoBrl }
      const created = await createTeam(deps.db, actorOf(caller), input)
      if (created.kind !== 'created')
        throw new RestRefusal(
          409,
          created.kind,
          `no máximo ${TEAMS_MAX} equipes por cliente, e ${TEAMS_EVER_MAX} com as encerradas`,
        )
      return getTeamBody(deps, caller, created.id)
    },
  }),
]

const forAll = {
  tag: 'Equipes',
  params: teamParams,
  refusals: { 404: ['team_not_found'] },
} as const

const one = [
  restRoute({
    ...forAll,
    method: 'GET',
    path: '/me/teams/:id',
    access: 'account',
    summary: 'Uma equipe, com o que gastou neste mês',
    answer: team,
    handle: ({ caller, params }, deps: Deps) => getTeamBody(deps, caller, params.id),
  }),
  restRoute({
    ...forAll,
    method: 'PATCH',
    path: '/me/teams/:id',
    access: 'manage',
    summary: 'Altera o nome de uma equipe, ou o limite mensal, que só o titular altera',
    body: teamChange,
    answer: team,
    async handle({ caller, params, body, reply }, deps: Deps) {
      const change = {
        ...(body.name === undefined ? {} : { name: readTeamName(body.name) }),
        ...(body.monthly_cap_brl === undefined
          ? {}
          : { limitNanoBrl: readCap(body.monthly_cap_brl) }),
      }
      const fields = Object.keys(body)
      const changed = await actInTeam(deps.db, caller, params.id, 'admin', (trx, access) =>
        changeTeam(trx, actorOf(caller), { access, change, fields }),
      )
      if (changed.kind === 'only_owner')
        throw new RestRefusal(403, 'forbidden', 'monthly_cap_brl: só para o dono da equipe')
      if (changed.kind === 'own_key_ended') return reply.code(401).send()
      if (changed.kind !== 'changed') throw refusalOfKey(changed)
      return getTeamBody(deps, caller, params.id)
    },
  }),
  restRoute({
    ...forAll,
    method: 'DELETE',
    path: '/me/teams/:id',
    access: 'manage',
    summary: 'Apaga uma equipe e revoga as suas chaves e os seus convites',
    answer: answer({ id: uuid, deleted: Type.Literal(true) }),
    async handle({ caller, params }, deps: Deps) {
      const id = await actInTeam(deps.db, caller, params.id, 'owner', async (trx, access) => {
        await deleteTeam(trx, actorOf(caller), { access })
        return access.teamId
      })
      return { id, deleted: true as const }
    },
  }),
]

export const teamRoutes = [...listAndCreate, ...one]

async function getTeamBody(
  { db }: Deps,
  { customerId }: Caller,
  teamId: string,
): Promise<AnswerOf<typeof team>> {
  const found = await findTeam(db, { teamId, customerId })
  if (!found) throw new RestRefusal(404, 'team_not_found')
  return teamBody(found)
}

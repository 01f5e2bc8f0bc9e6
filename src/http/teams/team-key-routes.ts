import Type from 'typebox'
import {
  findApiKeyDetails,
  listApiKeyDetails,
  type ApiKeyDetails,
} from '../../customers/api-key-details.ts'
import { listUnrevokedKeyIds } from '../../customers/api-keys.ts'
import { revokeKey } from '../../customers/key-acts.ts'
import { type TeamAccess, countTeamKeys, TEAM_KEYS_MAX } from '../../customers/team-access.ts'
import type { Database } from '../../platform/db/open.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { answer, nullable, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import {
  API_KEY_FAULTS,
  apiKey,
  apiKeyBody,
  newApiKey,
  readKeyInput,
  teamKeyInput,
} from '../api-keys/api-key-body.ts'
import { KEY_REFUSALS, KEYS_MAX, makeApiKey } from '../api-keys/make-api-key.ts'
import { actInTeam, getTeamAccess, teamParams } from './team-access.ts'

type Deps = Pick<HttpParts, 'db' | 'catalog'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const created_by = nullable(uuid)
const teamKey = answer({ ...apiKey.properties, created_by })

const forBoth = {
  path: '/me/teams/:id/keys',
  tag: 'Equipes',
  params: teamParams,
} as const

const listAndCreate = [
  restRoute({
    ...forBoth,
    method: 'GET',
    access: 'account',
    summary: 'As chaves de uma equipe; membros veem só as que criaram',
    query: { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor },
    answer: answer({
      api_keys: Type.Array(teamKey),
      next_cursor: nextCursor,
    }),
    refusals: { 404: ['team_not_found'] },
    async handle({ caller, params, query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const access = await getTeamAccess(deps.db, caller, params.id, 'member')
      const filter = {
        customerId: access.ownerId,
        teamId: access.teamId,
        createdBy: access.rank === 'member' ? caller.customerId : undefined,
        after,
      }
      const keys = await listApiKeyDetails(deps.db, filter, limit + 1)
      const { page, next_cursor } = pageOf(keys, limit, ({ id, createdAtExact }) => ({
        at: createdAtExact,
        id,
      }))
      return { api_keys: page.map(teamKeyBody), next_cursor }
    },
  }),
  restRoute({
    ...forBoth,
    method: 'POST',
    access: 'within',
    summary: 'Cria uma chave da equipe; o segredo só é mostrado esta vez',
    repeats: 'in_transaction',
    body: teamKeyInput,
    status: 201,
    answer: answer({ ...newApiKey.properties, created_by }),
    refusals: {
      400: API_KEY_FAULTS,
      403: KEY_REFUSALS,
      404: ['team_not_found'],
      409: ['too_many_keys'],
    },
    async handle({ caller, params, body, reply }, deps: Deps) {
      const input = readKeyInput(deps, body)
      const made = await actInTeam(deps.db, caller, params.id, 'member', async (trx, access) => {
        const { teamId, ownerId } = access
        const ofTeam = { customerId: ownerId, teamId, createdBy: caller.customerId }
        const made = await makeApiKey(trx, caller, { ...input, ...ofTeam }, () =>
          assertRoom(trx, access),
        )
        if (!made) return undefined
        const key = await theKey(trx, caller, access, made.key.id)
        return { ...teamKeyBody(key), key: made.secret }
      })
      if (!made) return reply.code(401).send()
      reply.header('cache-control', 'no-store')
      return made
    },
  }),
]

async function assertRoom(trx: Database, { teamId, ownerId }: TeamAccess): Promise<void> {
  const isFull =
    (await countTeamKeys(trx, teamId)) >= TEAM_KEYS_MAX ||
    (await listUnrevokedKeyIds(trx, ownerId)).length >= KEYS_MAX
  if (isFull)
    throw new RestRefusal(
      409,
      'too_many_keys',
      `no máximo ${TEAM_KEYS_MAX} de uma equipe e ${KEYS_MAX} do dono que não foram revogadas`,
    )
}

const revoke = [
  restRoute({
    method: 'DELETE',
    path: '/me/teams/:id/keys/:keyId',
    tag: 'Equipes',
    summary: 'Revoga uma chave da equipe; membros revogam só as que criaram',
    access: 'account',
    params: { ...teamParams, keyId: Type.String({ description: 'UUID da chave' }) },
    answer: teamKey,
    refusals: { 404: ['team_not_found', 'key_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      return actInTeam(deps.db, caller, params.id, 'member', async (trx, access) => {
        const { id } = await theKey(trx, caller, access, params.keyId)
        await revokeKey(trx, actorOf(caller), { keyId: id, customerId: access.ownerId })
        return teamKeyBody(await theKey(trx, caller, access, id))
      })
    },
  }),
]

export const teamKeyRoutes = [...listAndCreate, ...revoke]

/** Throws a 404 for an id that is not a key of the team, or, for a member, not their own key. */
async function theKey(
  db: Database,
  { customerId }: Caller,
  { teamId, ownerId, rank }: TeamAccess,
  keyId: string,
): Promise<ApiKeyDetails> {
  const key = await findApiKeyDetails(db, ownerId, keyId)
  if (key?.teamId !== teamId || (rank === 'member' && key.createdBy !== customerId))
    throw new RestRefusal(404, 'key_not_found')
  return key
}

function teamKeyBody(key: ApiKeyDetails): AnswerOf<typeof teamKey> {
  return { ...apiKeyBody(key), created_by: key.createdBy }
}

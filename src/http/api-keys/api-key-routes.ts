import Type from 'typebox'
import { API_KEY_STATUSES, listApiKeyDetails } from '../../customers/api-key-details.ts'
import { listUnrevokedKeyIds } from '../../customers/api-keys.ts'
import { changeKey, revokeKey } from '../../customers/key-acts.ts'
import { inTransaction } from '../../platform/db/open.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, storedText, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import {
  API_KEY_FAULTS,
  apiKey,
  apiKeyBody,
  apiKeyInput,
  newApiKey,
  readKeyChange,
  readKeyInput,
} from './api-key-body.ts'
import { bulkRevokeRoutes } from './bulk-revoke-routes.ts'
import { leakedKeyRoutes } from './leaked-key-routes.ts'
import { pauseRoutes, theKey } from './pause-routes.ts'
import { KEY_REFUSALS, KEYS_MAX, makeApiKey, refusalOfKey } from './make-api-key.ts'

type Deps = Pick<HttpParts, 'db' | 'catalog'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

/** Text that is not a UUID is no key's id: the answer is 404, not 400. */
const params = { id: Type.String({ maxLength: 200 }) }

const reading = [
  restRoute({
    method: 'GET',
    path: '/api-keys',
    tag: 'Chaves',
    summary: 'As chaves, das mais novas às mais antigas',
    access: 'account',
    query: {
      status: Type.Optional(Type.Enum([...API_KEY_STATUSES])),
      q: Type.Optional(storedText(1, 100, 'Parte do nome, ou o fim do segredo.')),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({ api_keys: Type.Array(apiKey), next_cursor: nextCursor }),
    async handle({ caller, query }, deps: Deps) {
      const { status, q: search, limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const filter = { customerId: caller.customerId, status, search, after }
      const keys = await listApiKeyDetails(deps.db, filter, limit + 1)
      const { page, next_cursor } = pageOf(keys, limit, ({ id, createdAtExact }) => ({
        at: createdAtExact,
        id,
      }))
      return { api_keys: page.map(apiKeyBody), next_cursor }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/api-keys/:id',
    tag: 'Chaves',
    summary: 'Uma chave',
    access: 'account',
    params,
    answer: apiKey,
    refusals: { 404: ['key_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      return apiKeyBody(await theKey(deps.db, caller, params.id))
    },
  }),
]

const creating = [
  restRoute({
    method: 'POST',
    path: '/api-keys',
    tag: 'Chaves',
    summary: 'Cria uma chave; o segredo só é mostrado na resposta',
    repeats: 'in_transaction',
    access: 'within',
    // The key reads as its owner does: any operator, in a session with a second factor, may make one.
    stricter: {
      access: 'support',
      when: 'the scope `operator`',
      applies: ({ scope }) => scope === 'operator',
    },
    body: apiKeyInput,
    status: 201,
    answer: newApiKey,
    refusals: {
      400: API_KEY_FAULTS,
      403: [...KEY_REFUSALS, 'second_factor_required'],
      409: ['too_many_keys'],
    },
    async handle({ caller, body, reply }, deps: Deps) {
      const input = readKeyInput(deps, body)
      const { customerId } = caller
      const made = await inTransaction(deps.db, async (trx) => {
        const made = await makeApiKey(trx, caller, { ...input, customerId }, async () => {
          if ((await listUnrevokedKeyIds(trx, customerId)).length >= KEYS_MAX)
            throw new RestRefusal(
              409,
              'too_many_keys',
              `no máximo ${KEYS_MAX} que não foram revogadas`,
            )
        })
        return made && { key: await theKey(trx, caller, made.key.id), secret: made.secret }
      })
      if (!made) return reply.code(401).send()
      reply.header('cache-control', 'no-store')
      return { ...apiKeyBody(made.key), key: made.secret }
    },
  }),
]

const changing = [
  restRoute({
    method: 'PATCH',
    path: '/api-keys/:id',
    tag: 'Chaves',
    summary: 'Altera o que for dado; null retira a restrição',
    access: 'within',
    params,
    body: apiKeyInput,
    answer: apiKey,
    refusals: {
      400: API_KEY_FAULTS,
      403: KEY_REFUSALS,
      404: ['key_not_found'],
      409: ['key_revoked'],
    },
    async handle({ caller, params, body, reply }, deps: Deps) {
      const change = readKeyChange(deps, body)
      const fields = Object.keys(body)
      if (fields.length > 0) {
        const wanted = { customerId: caller.customerId, keyId: params.id, change, fields }
        const changed = await changeKey(deps.db, actorOf(caller), wanted)
        if (changed.kind === 'key_not_found') throw new RestRefusal(404, 'key_not_found')
        if (changed.kind === 'key_revoked') throw new RestRefusal(409, 'key_revoked')
        if (changed.kind === 'own_key_ended') return reply.code(401).send()
        if (changed.kind !== 'changed') throw refusalOfKey(changed)
      }
      return apiKeyBody(await theKey(deps.db, caller, params.id))
    },
  }),
  restRoute({
    method: 'DELETE',
    path: '/api-keys/:id',
    tag: 'Chaves',
    summary: 'Revoga uma chave, para sempre',
    access: 'account',
    params,
    answer: apiKey,
    refusals: { 404: ['key_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      await revokeKey(deps.db, actorOf(caller), { keyId: params.id, customerId })
      return apiKeyBody(await theKey(deps.db, caller, params.id))
    },
  }),
]

export const apiKeyRoutes = [
  ...reading,
  ...creating,
  ...changing,
  ...bulkRevokeRoutes,
  ...pauseRoutes,
  ...leakedKeyRoutes,
]

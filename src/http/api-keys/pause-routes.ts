import Type from 'typebox'
import { pauseKey, resumeKey } from '../../customers/key-acts.ts'
import { stopAccount } from '../../identity/sign-in/sessions.ts'
import { actorOf, type Caller } from '../rest/authenticate.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { answer, count } from '../rest/values.ts'
import { apiKey, apiKeyBody } from './api-key-body.ts'
import type { HttpParts } from '../rest/parts.ts'
import { KEY_REFUSALS, refusalOfKey } from './make-api-key.ts'
import { findApiKeyDetails, type ApiKeyDetails } from '../../customers/api-key-details.ts'
import type { Database } from '../../platform/db/open.ts'

type Deps = Pick<HttpParts, 'db' | 'keys'>

/** Text that is not a UUID is no key's id: the answer is 404, not 400. */
const params = { id: Type.String({ maxLength: 200 }) }

export const pauseRoutes = [
  restRoute({
    method: 'POST',
    path: '/api-keys/:id/pause',
    tag: 'Chaves',
    summary: 'Pausa uma chave: nada mais é atendido com ela até que alguém a retome',
    access: 'account',
    params,
    answer: apiKey,
    refusals: { 404: ['key_not_found'] },
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      await pauseKey(deps.db, actorOf(caller), { customerId, keyId: params.id })
      deps.keys.forget(params.id)
      return apiKeyBody(await theKey(deps.db, caller, params.id))
    },
  }),
  restRoute({
    method: 'POST',
    path: '/api-keys/:id/resume',
    tag: 'Chaves',
    summary: 'Retoma uma chave pausada',
    access: 'within',
    params,
    answer: apiKey,
    refusals: { 403: ['paused_by_operator', ...KEY_REFUSALS], 404: ['key_not_found'] },
    async handle({ caller, params, reply }, deps: Deps) {
      const { customerId } = caller
      const wanted = { customerId, keyId: params.id }
      const outcome = await resumeKey(deps.db, actorOf(caller), wanted)
      if (outcome === 'key_not_found') throw new RestRefusal(404, outcome)
      if (outcome === 'paused_by_operator')
        throw new RestRefusal(403, outcome, 'id: só a operação do serviço a retoma')
      if (typeof outcome === 'object') {
        if (outcome.kind === 'own_key_ended') return reply.code(401).send()
        throw refusalOfKey(outcome)
      }
      // The next call comes to this node before its notification does.
      deps.keys.forget(params.id)
      return apiKeyBody(await theKey(deps.db, caller, params.id))
    },
  }),
  restRoute({
    method: 'POST',
    path: '/me/panic',
    tag: 'Conta',
    summary:
      'Para tudo de uma vez: pausa todas as chaves, desliga a recarga automática e encerra as outras sessões do painel',
    access: 'within',
    body: Type.Object(
      { confirm: Type.Literal(true, { description: 'Nada acontece sem ela.' }) },
      { additionalProperties: false },
    ),
    answer: answer({
      paused_keys: count,
      ended_sessions: count,
      is_automatic_topup_off: Type.Boolean({ description: 'Estava ligada, e foi desligada.' }),
    }),
    async handle({ caller }, { db }: Deps) {
      const { customerId } = caller
      const stopped = await stopAccount(db, actorOf(caller), { customerId })
      return {
        paused_keys: stopped.pausedKeys,
        ended_sessions: stopped.endedSessions,
        is_automatic_topup_off: stopped.isAutomaticTopUpOff,
      }
    },
  }),
]

/** Throws a 404 for an id that is not a key of the caller. */
export async function theKey(db: Database, caller: Caller, keyId: string): Promise<ApiKeyDetails> {
  const key = await findApiKeyDetails(db, caller.customerId, keyId)
  if (!key) throw new RestRefusal(404, 'key_not_found')
  return key
}

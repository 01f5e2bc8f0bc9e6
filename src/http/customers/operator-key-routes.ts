import Type from 'typebox'
import { findApiKeyDetails } from '../../customers/api-key-details.ts'
import { pauseKeyByOperator, resumeKeyByOperator } from '../../customers/key-acts.ts'
import { actorOf } from '../rest/authenticate.ts'
import { ownAccount } from '../rest/access.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, uuid } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'db'>

const forEach = {
  method: 'POST',
  tag: 'Administração',
  access: 'finance',
  params: { id: Type.String({ maxLength: 200 }) },
  answer: answer({
    id: uuid,
    is_paused: Type.Boolean({ description: 'Pela operação ou, se não, por quem é dono da chave.' }),
  }),
  refusals: { 403: ['own_account'], 404: ['key_not_found'] },
} as const

/** The routes that change the state of a key. They succeed also if the key already has that state. */
export const operatorKeyRoutes = [
  restRoute({
    ...forEach,
    path: '/admin/api-keys/:id/pause',
    summary: 'Pausa uma chave até que a operação a retome',
    async handle({ caller, params }, { db }: Deps) {
      const { id } = params
      const outcome = await pauseKeyByOperator(db, actorOf(caller), { keyId: id })
      if (outcome === 'key_not_found') throw new RestRefusal(404, outcome)
      if (outcome === 'own_account') throw ownAccount()
      return { id: id.toLowerCase(), is_paused: true }
    },
  }),
  restRoute({
    ...forEach,
    path: '/admin/api-keys/:id/resume',
    summary: 'Levanta a pausa da operação; a de quem é dono da chave continua',
    async handle({ caller, params }, { db }: Deps) {
      const { id } = params
      const outcome = await resumeKeyByOperator(db, actorOf(caller), { keyId: id })
      if (outcome === 'key_not_found') throw new RestRefusal(404, outcome)
      if (outcome === 'own_account') throw ownAccount()
      return { id: id.toLowerCase(), is_paused: await isPaused(db, id) }
    },
  }),
]

async function isPaused(db: HttpParts['db'], id: string): Promise<boolean> {
  const key = await findApiKeyDetails(db, undefined, id)
  return key !== undefined && key.pausedReason !== null
}

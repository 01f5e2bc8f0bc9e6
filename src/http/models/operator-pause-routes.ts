import Type from 'typebox'
import { pauseService, resumeService } from '../../money/catalog/service-pause.ts'
import { actorOf } from '../rest/authenticate.ts'
import { reason, answer } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { reloadCatalog } from './operator-model-body.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db' | 'log' | 'reloadCatalog'>

const state = answer({ is_paused: Type.Boolean() })

/** The routes that pause and resume the service. Both succeed if it already has that state. */
export const operatorPauseRoutes = [
  restRoute({
    method: 'POST',
    path: '/admin/service/pause',
    tag: 'Administração',
    summary: 'Pausa todas as chamadas de modelos, em todos os nós: recebem 503 service_paused',
    access: 'admin',
    body: Type.Object({ reason }, { additionalProperties: false }),
    answer: state,
    async handle({ caller, body: { reason } }, deps: Deps) {
      await pauseService(deps.db, actorOf(caller), { reason })
      await reloadCatalog(deps)
      return { is_paused: true }
    },
  }),
  restRoute({
    method: 'POST',
    path: '/admin/service/resume',
    tag: 'Administração',
    summary: 'Volta a atender chamadas de modelos',
    access: 'admin',
    answer: state,
    async handle({ caller }, deps: Deps) {
      await resumeService(deps.db, actorOf(caller))
      await reloadCatalog(deps)
      return { is_paused: false }
    },
  }),
]

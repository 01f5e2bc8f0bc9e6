import Type from 'typebox'
import {
  ALERTS_MAX,
  changeAlert,
  createAlert,
  deleteAlert,
  findAlert,
  listAlerts,
} from '../../deliveries/alerts/alerts.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import {
  alert,
  alertBody,
  alertChange,
  alertInput,
  readAlertChange,
  readAlertInput,
} from './alert-body.ts'

type Deps = Pick<HttpParts, 'db'>

/** Text that is not a UUID is no alert's id: the answer is 404, not 400. */
const params = { id: Type.String({ maxLength: 200 }) }
const refusals = { 404: ['alert_not_found'] }

const reading = [
  restRoute({
    method: 'GET',
    path: '/me/alerts',
    tag: 'Alertas',
    summary: 'Os alertas, na ordem em que foram criados',
    access: 'account',
    answer: answer({ alerts: Type.Array(alert) }),
    async handle({ caller }, deps: Deps) {
      return { alerts: (await listAlerts(deps.db, caller.customerId)).map(alertBody) }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/me/alerts/:id',
    tag: 'Alertas',
    summary: 'Um alerta',
    access: 'account',
    params,
    answer: alert,
    refusals,
    async handle({ caller, params }, deps: Deps) {
      const found = await findAlert(deps.db, caller.customerId, params.id)
      if (!found) throw new RestRefusal(404, 'alert_not_found')
      return alertBody(found)
    },
  }),
]

const creating = [
  restRoute({
    method: 'POST',
    path: '/me/alerts',
    tag: 'Alertas',
    summary:
      'Cria um alerta de saldo, de gasto ou de erros, da conta, de uma chave ou de uma equipe',
    repeats: 'in_transaction',
    access: 'account',
    body: alertInput,
    status: 201,
    answer: alert,
    refusals: { 404: ['key_not_found', 'team_not_found'], 409: ['too_many_alerts'] },
    async handle({ caller, body }, deps: Deps) {
      const { customerId } = caller
      const input = readAlertInput(customerId, body)
      const made = await createAlert(deps.db, actorOf(caller), input)
      if (!('id' in made))
        throw made.kind === 'too_many_alerts'
          ? new RestRefusal(409, made.kind, `no máximo ${ALERTS_MAX}`)
          : new RestRefusal(404, made.kind)
      return alertBody(made)
    },
  }),
]

const changing = [
  restRoute({
    method: 'PATCH',
    path: '/me/alerts/:id',
    tag: 'Alertas',
    summary: 'Altera o que for dado; com outro limite o alerta pode disparar de novo',
    access: 'account',
    params,
    body: alertChange,
    answer: alert,
    refusals,
    async handle({ caller, params, body }, deps: Deps) {
      const { customerId } = caller
      const changed = await changeAlert(deps.db, actorOf(caller), {
        customerId,
        id: params.id,
        readChange: (kind) => readAlertChange(kind, body),
        fields: Object.keys(body),
      })
      if (!changed) throw new RestRefusal(404, 'alert_not_found')
      return alertBody(changed)
    },
  }),
]

const deleting = [
  restRoute({
    method: 'DELETE',
    path: '/me/alerts/:id',
    tag: 'Alertas',
    summary: 'Exclui um alerta',
    access: 'account',
    params,
    answer: alert,
    refusals,
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const deleted = await deleteAlert(deps.db, actorOf(caller), { customerId, id: params.id })
      if (!deleted) throw new RestRefusal(404, 'alert_not_found')
      return alertBody(deleted)
    },
  }),
]

export const alertRoutes = [...reading, ...creating, ...changing, ...deleting]

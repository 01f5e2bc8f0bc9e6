import Type from 'typebox'
import {
  askForTest,
  changeDestination,
  createDestination,
  deleteDestination,
  DESTINATIONS_MAX,
  findDestination,
  listDestinations,
} from '../../deliveries/usage-destinations/usage-destinations.ts'
import { actorOf } from '../rest/authenticate.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer } from '../rest/values.ts'
import {
  destination,
  destinationBody,
  destinationChange,
  destinationInput,
  faulty,
  readAccess,
  readDestinationChange,
  readDestinationUrl,
} from './usage-destination-body.ts'
import type { HttpParts } from '../rest/parts.ts'

type Deps = Pick<HttpParts, 'db' | 'webhooks'>

/** Text that is not a UUID is no destination's id: the answer is 404, not 400. */
const params = { id: Type.String({ maxLength: 200 }) }
const refusals = { 404: ['usage_destination_not_found'] }

const reading = [
  restRoute({
    method: 'GET',
    path: '/usage/destinations',
    tag: 'Uso',
    summary: 'Os destinos de uso: para onde vão as suas cobranças, uma a uma',
    access: 'account',
    answer: answer({ destinations: Type.Array(destination) }),
    async handle({ caller }, deps: Deps) {
      const found = await listDestinations(deps.db, caller.customerId)
      return { destinations: found.map(destinationBody) }
    },
  }),
  restRoute({
    method: 'GET',
    path: '/usage/destinations/:id',
    tag: 'Uso',
    summary: 'Um destino de uso',
    access: 'account',
    params,
    answer: destination,
    refusals,
    async handle({ caller, params }, deps: Deps) {
      const found = await findDestination(deps.db, caller.customerId, params.id)
      if (!found) throw new RestRefusal(404, 'usage_destination_not_found')
      return destinationBody(found)
    },
  }),
]

const creating = [
  restRoute({
    method: 'POST',
    path: '/usage/destinations',
    tag: 'Uso',
    summary: 'Cria um destino de uso: um Langfuse, ou um coletor OTLP',
    repeats: 'in_transaction',
    access: 'manage',
    body: destinationInput,
    status: 201,
    answer: destination,
    refusals: { 409: ['too_many_usage_destinations'] },
    async handle({ caller, body }, deps: Deps) {
      const { kind, includes_content: includesContent = false } = body
      const access = readAccess(kind, body) ?? (kind === 'otlp' ? { kind, headers: {} } : undefined)
      if (!access) throw faulty('public_key e secret_key são obrigatórias para langfuse')
      const made = await createDestination(deps.db, actorOf(caller), deps.webhooks.sealingKey, {
        customerId: caller.customerId,
        url: readDestinationUrl(deps.webhooks, body.url),
        access,
        includesContent,
      })
      if ('problem' in made)
        throw new RestRefusal(409, made.problem, `no máximo ${DESTINATIONS_MAX}`)
      return destinationBody(made)
    },
  }),
  restRoute({
    method: 'POST',
    path: '/usage/destinations/:id/test',
    tag: 'Uso',
    summary: 'Envia um span de teste em segundos; o resultado fica em test',
    repeats: 'in_transaction',
    access: 'manage',
    params,
    answer: destination,
    refusals: { ...refusals, 409: ['usage_destination_disabled'] },
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const asked = await askForTest(deps.db, { customerId, id: params.id })
      if (!('problem' in asked)) return destinationBody(asked)
      if (asked.problem === 'usage_destination_not_found') throw new RestRefusal(404, asked.problem)
      throw new RestRefusal(409, asked.problem, 'o destino está desligado')
    },
  }),
]

const changing = [
  restRoute({
    method: 'PATCH',
    path: '/usage/destinations/:id',
    tag: 'Uso',
    summary: 'Altera o que for dado; o que ainda não foi enviado vai para o endereço novo',
    access: 'manage',
    params,
    body: destinationChange,
    answer: destination,
    refusals,
    async handle({ caller, params, body }, deps: Deps) {
      const { customerId } = caller
      const { id } = params
      const { sealingKey } = deps.webhooks
      const changed = await changeDestination(deps.db, actorOf(caller), sealingKey, {
        customerId,
        id,
        readChange: (found) => readDestinationChange(deps.webhooks, found, body),
        fields: Object.keys(body),
      })
      if (!changed) throw new RestRefusal(404, 'usage_destination_not_found')
      return destinationBody(changed)
    },
  }),
  restRoute({
    method: 'DELETE',
    path: '/usage/destinations/:id',
    tag: 'Uso',
    summary: 'Exclui um destino de uso, com seus segredos; nada mais é enviado',
    access: 'manage',
    params,
    answer: destination,
    refusals,
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const gone = await deleteDestination(deps.db, actorOf(caller), { customerId, id: params.id })
      if (!gone) throw new RestRefusal(404, 'usage_destination_not_found')
      return destinationBody(gone)
    },
  }),
]

export const usageDestinationRoutes = [...reading, ...creating, ...changing]

import Type from 'typebox'
import {
  ADDED_KINDS,
  addUpstream,
  changeUpstream,
  deleteUpstream,
  listAddedUpstreams,
  needsAddress,
  needsKey,
  recordUpstreamTest,
  UPSTREAM_STATES,
} from '../../money/catalog/added-upstreams.ts'
import { readReceiverUrl, RECEIVER_URL_MAX } from '../../deliveries/receiver.ts'
import type { SealingKeys } from '../../platform/db/reseal.ts'
import { reloadCatalog } from '../models/operator-model-body.ts'
import { actorOf } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer } from '../rest/values.ts'
import {
  addedBody,
  configuredBody,
  listKinds,
  testBody,
  upstreamBody,
  upstreamKind,
  upstreamTest,
  type UpstreamBook,
} from './upstream-body.ts'

interface Deps extends Pick<HttpParts, 'db' | 'log' | 'catalog' | 'reloadCatalog' | 'webhooks'> {
  readonly upstreamBook: UpstreamBook
}

const ADMIN = { tag: 'Administração', access: 'admin' } as const
const params = { id: Type.String({ maxLength: 100 }) }
const refusals = { 404: ['upstream_not_found'] }
/** It is sent in a header. */
const apiKey = Type.String({
  minLength: 1,
  maxLength: 1_000,
  pattern: '^[\\x21-\\x7e]+$',
  description: 'Guardada selada, e nunca mais mostrada.',
})

/** Upstreams of the file and of the environment are shown here, and change there. */
export const operatorUpstreamRoutes = [
  restRoute({
    ...ADMIN,
    method: 'GET',
    path: '/admin/upstreams',
    summary: 'Os provedores, de onde vêm e em que estado estão',
    access: 'support',
    answer: answer({ kinds: Type.Array(upstreamKind), upstreams: Type.Array(upstreamBody) }),
    async handle(_call, deps: Deps) {
      const added = await listAddedUpstreams(deps.db)
      return {
        kinds: listKinds(),
        upstreams: [
          ...added.map((each) => addedBody(deps, each)),
          ...deps.upstreamBook.configured().map((each) => configuredBody(deps, each)),
        ],
      }
    },
  }),
  restRoute({
    ...ADMIN,
    method: 'POST',
    path: '/admin/upstreams',
    summary:
      'Acrescenta um provedor, sem reiniciar; os seus modelos com preço conhecido entram no catálogo',
    repeats: 'in_transaction',
    body: Type.Object(
      {
        id: Type.String({ pattern: '^[a-z0-9][a-z0-9._-]{0,62}$' }),
        kind: Type.Enum([...ADDED_KINDS]),
        base_url: Type.Optional(
          Type.String({
            maxLength: RECEIVER_URL_MAX,
            description: 'Só de um tipo sem endereço próprio; público, com o segmento da versão.',
          }),
        ),
        api_key: Type.Optional(apiKey),
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: upstreamBody,
    refusals: { 409: ['upstream_exists'] },
    async handle(
      { caller, body: { id, kind, base_url: given, api_key: key }, afterCommit },
      deps: Deps,
    ) {
      if (key === undefined && needsKey(kind)) throw invalid('api_key: este tipo precisa dela')
      if ((given !== undefined) !== needsAddress(kind))
        throw invalid(`base_url: este tipo ${needsAddress(kind) ? 'precisa' : 'não precisa'} dele`)
      const baseUrl = given === undefined ? null : readBaseUrl(given, deps.webhooks)
      const isTaken = deps.upstreamBook.configured().some((own) => own.id === id)
      const input = { id, kind, baseUrl, apiKey: key }
      const added = isTaken
        ? undefined
        : await addUpstream(deps.db, actorOf(caller), input, sealingOf(deps))
      if (!added) throw new RestRefusal(409, 'upstream_exists')
      afterCommit(async () => {
        await reloadCatalog(deps)
        deps.upstreamBook.readList(id)
      })
      return { ...addedBody(deps, added), problem: null }
    },
  }),
  restRoute({
    ...ADMIN,
    method: 'PATCH',
    path: '/admin/upstreams/:id',
    summary:
      'Troca a chave de um provedor acrescentado aqui, ou o seu estado; chamadas em curso terminam',
    params,
    body: Type.Object(
      {
        api_key: Type.Optional(apiKey),
        state: Type.Optional(
          Type.Enum([...UPSTREAM_STATES], {
            description: 'draining e paused: não recebe chamadas novas.',
          }),
        ),
      },
      { additionalProperties: false, minProperties: 1 },
    ),
    answer: upstreamBody,
    refusals,
    async handle({ caller, params: { id }, body: { api_key: key, state } }, deps: Deps) {
      const change = { id, apiKey: key, state }
      const changed = await changeUpstream(deps.db, actorOf(caller), change, sealingOf(deps))
      if (!changed) throw new RestRefusal(404, 'upstream_not_found')
      await reloadCatalog(deps)
      return addedBody(deps, changed)
    },
  }),
  restRoute({
    ...ADMIN,
    method: 'DELETE',
    path: '/admin/upstreams/:id',
    summary: 'Exclui um provedor acrescentado aqui e apaga a sua chave; chamadas em curso terminam',
    params,
    answer: answer({ id: Type.String(), deleted: Type.Literal(true) }),
    refusals,
    async handle({ caller, params: { id } }, deps: Deps) {
      if (!(await deleteUpstream(deps.db, actorOf(caller), { id })))
        throw new RestRefusal(404, 'upstream_not_found')
      await reloadCatalog(deps)
      return { id, deleted: true as const }
    },
  }),
  restRoute({
    ...ADMIN,
    method: 'POST',
    path: '/admin/upstreams/:id/test',
    summary:
      'Lê a lista de modelos de um provedor e pede uma resposta, que custa no máximo um centavo de dólar',
    params,
    answer: upstreamTest,
    refusals,
    async handle({ caller, params: { id } }, deps: Deps) {
      const tested = await deps.upstreamBook.test(id)
      if (!tested) throw new RestRefusal(404, 'upstream_not_found')
      if (tested.kind === 'too_many')
        throw new RestRefusal(429, 'rate_limit_exceeded', undefined, tested.seconds)
      await recordUpstreamTest(deps.db, actorOf(caller), { id })
      return testBody(tested)
    },
  }),
]

function sealingOf({ webhooks }: Pick<Deps, 'webhooks'>): SealingKeys {
  return { current: webhooks.sealingKey, previous: webhooks.previousSealingKey }
}

/** As for a webhook: the operator in the browser reaches no more of the network than a customer does. */
function readBaseUrl(text: string, settings: Deps['webhooks']): string {
  const read = readReceiverUrl(text, settings)
  if ('fault' in read) throw invalid(`base_url: ${read.fault}`)
  if (read.url.includes('?')) throw invalid('base_url: não pode ter parâmetros (?)')
  return read.url.replace(/\/+$/, '')
}

function invalid(details: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', details)
}

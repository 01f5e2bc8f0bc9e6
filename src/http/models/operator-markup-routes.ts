import Type from 'typebox'
import {
  cancelMarkup,
  scheduleMarkup,
  scheduleMarkups,
  type MarkupOutcome,
} from '../../money/catalog/markup-changes.ts'
import { parseE4 } from '../../platform/lib/money.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, reason, dateTime, nullable } from '../rest/values.ts'
import type { HttpConfig, HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import {
  getConfigured,
  markupChange,
  markupChangeBody,
  reloadCatalog,
} from './operator-model-body.ts'

type Deps = Pick<HttpParts, 'db' | 'log' | 'catalog' | 'reloadCatalog'>

const DAYS_AHEAD_MAX = 366
const DAY_MS = 86_400_000

/** An id with slashes is written with `%2F`. */
const id = Type.String({ maxLength: 200 })

const change = {
  markup_multiplier: Type.Number({
    minimum: 1,
    maximum: 10,
    description: 'Com até quatro decimais.',
  }),
  starts_at: Type.Optional({ ...dateTime, description: 'Sem ele, na hora.' }),
  reason,
}

const scheduling = (noticeDays: number) => [
  restRoute({
    method: 'POST',
    path: '/admin/models/:id/markup',
    tag: 'Administração',
    summary: `Muda o multiplicador de um modelo; um aumento, com ${noticeDays} dias de aviso aos clientes`,
    repeats: 'in_transaction',
    access: 'admin',
    params: { id },
    body: Type.Object(change, { additionalProperties: false }),
    status: 201,
    answer: markupChange,
    refusals: {
      400: ['notice_too_short'],
      404: ['model_not_found'],
      409: ['later_change_scheduled', 'markup_unchanged'],
    },
    async handle({ caller, params, body, afterCommit }, deps: Deps) {
      const { id: modelId, markupE4: configuredE4 } = getConfigured(deps, params.id)
      const markupE4 = readMarkup(body.markup_multiplier)
      const startsAt = body.starts_at === undefined ? undefined : readStart(body.starts_at)
      const reason = body.reason.toWellFormed()
      const wanted = { modelId, markupE4, configuredE4, startsAt, reason, noticeDays }
      const outcome = await scheduleMarkup(deps.db, actorOf(caller), wanted)
      if (outcome.kind !== 'scheduled') throw refusalOf(outcome)
      afterCommit(() => reloadCatalog(deps))
      return markupChangeBody(outcome.change)
    },
  }),
  restRoute({
    method: 'POST',
    path: '/admin/markups',
    tag: 'Administração',
    summary: `Muda o multiplicador de todos os modelos de um fabricante, ou de todos: os que já o têm ficam como estão; um aumento, com ${noticeDays} dias de aviso`,
    repeats: 'in_transaction',
    access: 'admin',
    body: Type.Object(
      {
        vendor: nullable(
          Type.String({ maxLength: 100, description: 'O fabricante; null: todos os modelos.' }),
        ),
        ...change,
      },
      { additionalProperties: false },
    ),
    status: 201,
    answer: answer({ changes: Type.Array(markupChange) }),
    refusals: {
      400: ['notice_too_short'],
      404: ['model_not_found'],
      409: ['later_change_scheduled'],
    },
    async handle({ caller, body, afterCommit }, deps: Deps) {
      const { vendor } = body
      const models = deps.catalog
        .listConfigured()
        .filter((model) => vendor === null || model.vendor === vendor)
        .map(({ id: modelId, markupE4: configuredE4 }) => ({ modelId, configuredE4 }))
      if (models.length === 0) throw new RestRefusal(404, 'model_not_found')
      const markupE4 = readMarkup(body.markup_multiplier)
      const startsAt = body.starts_at === undefined ? undefined : readStart(body.starts_at)
      const reason = body.reason.toWellFormed()
      const wanted = { models, vendor, markupE4, startsAt, reason, noticeDays }
      const outcome = await scheduleMarkups(deps.db, actorOf(caller), wanted)
      if (outcome.kind !== 'scheduled') throw refusalOf(outcome, `${outcome.modelId}: `)
      afterCommit(() => reloadCatalog(deps))
      return { changes: outcome.changes.map(markupChangeBody) }
    },
  }),
]

function refusalOf(
  outcome: Exclude<MarkupOutcome, { kind: 'scheduled' }>,
  ofModel = '',
): RestRefusal {
  if (outcome.kind === 'starts_in_the_past')
    return new RestRefusal(400, 'invalid_request', 'starts_at: já passou')
  if (outcome.kind === 'notice_too_short')
    return new RestRefusal(
      400,
      outcome.kind,
      `${ofModel}starts_at: um aumento começa em ${outcome.earliest.toISOString()} ou depois`,
    )
  return new RestRefusal(409, outcome.kind, ofModel === '' ? undefined : ofModel + outcome.kind)
}

const canceling = [
  restRoute({
    method: 'DELETE',
    path: '/admin/models/:id/markup/:changeId',
    tag: 'Administração',
    summary: 'Cancela uma mudança de multiplicador que ainda não começou',
    access: 'admin',
    params: { id, changeId: id },
    answer: markupChange,
    refusals: {
      404: ['model_not_found', 'markup_change_not_found'],
      409: ['already_in_force', 'later_change_scheduled'],
    },
    async handle({ caller, params }, deps: Deps) {
      const { id: modelId } = getConfigured(deps, params.id)
      const canceled = { modelId, id: params.changeId }
      const outcome = await cancelMarkup(deps.db, actorOf(caller), canceled)
      if (outcome.kind === 'markup_change_not_found') throw new RestRefusal(404, outcome.kind)
      if (outcome.kind !== 'canceled') throw new RestRefusal(409, outcome.kind)
      await reloadCatalog(deps)
      return markupChangeBody(outcome.change)
    },
  }),
]

export const operatorMarkupRoutes = ({
  markupNoticeDays,
}: Pick<HttpConfig, 'markupNoticeDays'>) => [...scheduling(markupNoticeDays), ...canceling]

/** Parses the number's shortest text: no floating-point arithmetic. */
function readMarkup(given: number): bigint {
  const markupE4 = parseE4(String(given))
  if (markupE4 === undefined)
    throw new RestRefusal(
      400,
      'invalid_request',
      'markup_multiplier: tem mais de quatro casas decimais',
    )
  return markupE4
}

function readStart(text: string): Date {
  const startsAt = new Date(text)
  // The format allows leap seconds; a `Date` does not.
  if (!(startsAt.getTime() <= Date.now() + DAYS_AHEAD_MAX * DAY_MS))
    throw new RestRefusal(400, 'invalid_request', 'starts_at: deve ser dentro de um ano')
  return startsAt
}

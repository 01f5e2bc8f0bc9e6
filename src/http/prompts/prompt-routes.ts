import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { audited } from '../../audit-log/audited.ts'
import type { Catalog } from '../../catalog/catalog.ts'
import { findPrompt, type Prompt } from '../../prompts/find-prompt.ts'
import { listPrompts } from '../../prompts/list-prompts.ts'
import { VARIABLES_MAX, type VariablesFault } from '../../prompts/placeholders.ts'
import { changePrompt, clonePrompt, createPrompt, deletePrompt } from '../../prompts/prompts.ts'
import { actorOf } from '../rest/authenticate.ts'
import { prompt, promptChange, promptInput, promptParams, TAG_LENGTH_MAX } from './prompt-body.ts'
import { answer, uuid, wholeNumber, storedText } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpDeps } from '../http-deps.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { addRestRoute } from '../rest/rest-route.ts'

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const FOR_ALL = {
  tag: 'Prompts',
  access: 'customer',
  params: promptParams,
  refusals: { 404: ['prompt_not_found'] },
} as const

export function addPrompts(server: FastifyInstance, deps: HttpDeps): void {
  addListAndCreate(server, deps)
  addRestRoute(server, deps, {
    ...FOR_ALL,
    method: 'GET',
    path: '/me/prompts/:id',
    summary: 'Um prompt salvo',
    answer: prompt,
    handle: async ({ caller, params }) =>
      promptBody(found(await findPrompt(deps.db, caller.customerId, params.id))),
  })
  addRestRoute(server, deps, {
    ...FOR_ALL,
    method: 'PATCH',
    path: '/me/prompts/:id',
    summary: 'Altera um prompt salvo; outro texto é outra versão',
    body: promptChange,
    answer: prompt,
    async handle({ caller, params, body }) {
      checkDefaultModel(deps.catalog, body.default_model)
      const change = { ...fieldsOf(body), changeNote: body.change_note }
      const changed = await changePrompt(deps.db, caller.customerId, params.id, change)
      return promptBody(sound(found(changed)))
    },
  })
  addRestRoute(server, deps, {
    ...FOR_ALL,
    method: 'DELETE',
    path: '/me/prompts/:id',
    summary: 'Apaga um prompt salvo e as suas versões',
    answer: answer({ id: uuid, deleted: Type.Literal(true) }),
    async handle({ caller, params }) {
      const { customerId } = caller
      const id = params.id.toLowerCase()
      await audited(deps.db, actorOf(caller), async (trx, record) => {
        if (!(await deletePrompt(trx, customerId, id)))
          throw new RestRefusal(404, 'prompt_not_found')
        await record({ action: 'prompt.deleted', customerId, subjectId: id })
      })
      return { id, deleted: true }
    },
  })
  addRestRoute(server, deps, {
    ...FOR_ALL,
    method: 'POST',
    path: '/me/prompts/:id/clone',
    summary: 'Copia um prompt salvo, sem o seu histórico',
    status: 201,
    answer: prompt,
    handle: async ({ caller, params }) =>
      promptBody(found(await clonePrompt(deps.db, caller.customerId, params.id))),
  })
}

function addListAndCreate(server: FastifyInstance, deps: HttpDeps): void {
  addRestRoute(server, deps, {
    method: 'GET',
    path: '/me/prompts',
    tag: 'Prompts',
    summary: 'Os prompts salvos, o último alterado primeiro',
    access: 'customer',
    query: {
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
      tag: Type.Optional(storedText(1, TAG_LENGTH_MAX, 'Só os que têm esta tag.')),
      q: Type.Optional(storedText(1, 120, 'Procura no nome e na descrição.')),
    },
    answer: answer({ prompts: Type.Array(prompt), next_cursor: nextCursor }),
    async handle({ caller, query }) {
      const { limit = LIMIT_DEFAULT, tag, q: text } = query
      const after = readCursor(query.cursor)
      const filter = { tag, text, after, limit: limit + 1 }
      const prompts = await listPrompts(deps.db, caller.customerId, filter)
      const { page, next_cursor } = pageOf(prompts, limit, ({ id, updatedAtExact }) => ({
        at: updatedAtExact,
        id,
      }))
      return { prompts: page.map(promptBody), next_cursor }
    },
  })
  addRestRoute(server, deps, {
    method: 'POST',
    path: '/me/prompts',
    tag: 'Prompts',
    summary: 'Salva um prompt',
    access: 'customer',
    body: promptInput,
    status: 201,
    answer: prompt,
    async handle({ caller, body }) {
      checkDefaultModel(deps.catalog, body.default_model)
      const input = { ...fieldsOf(body), name: body.name, body: body.body }
      return promptBody(sound(await createPrompt(deps.db, caller.customerId, input)))
    },
  })
}

function checkDefaultModel(catalog: Catalog, id: string | null | undefined): void {
  if (id === null || id === undefined) return
  if (catalog.findModel(id)?.category !== 'llm')
    throw new RestRefusal(
      400,
      'invalid_request',
      'default_model: is not a chat model of the catalog',
    )
}

function fieldsOf(body: Static<typeof promptChange>) {
  const { default_model: defaultModel, change_note: _, ...fields } = body
  return { ...fields, defaultModel }
}

function found<Found>(result: Found | undefined): Found {
  if (result === undefined) throw new RestRefusal(404, 'prompt_not_found')
  return result
}

function sound(result: Prompt | VariablesFault): Prompt {
  if (!('kind' in result)) return result
  const what =
    result.kind === 'undeclared_variable'
      ? `variables: ${result.name} is in the body and is not declared`
      : `body: has more than ${VARIABLES_MAX} variables`
  throw new RestRefusal(400, 'invalid_request', what)
}

function promptBody(saved: Prompt): object {
  return {
    id: saved.id,
    slug: saved.slug,
    name: saved.name,
    description: saved.description,
    body: saved.body,
    variables: saved.variables,
    tags: saved.tags,
    default_model: saved.defaultModel,
    version: saved.version,
    created_at: saved.createdAt.toISOString(),
    updated_at: saved.updatedAt.toISOString(),
  }
}

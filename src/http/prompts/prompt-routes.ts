import Type, { type Static } from 'typebox'
import type { Catalog } from '../../money/catalog/catalog.ts'
import { findPrompt, type Prompt, listPrompts } from '../../customers/prompts/read-prompts.ts'
import { VARIABLES_MAX, type VariablesFault } from '../../customers/prompts/placeholders.ts'
import {
  PROMPT_BYTES_MAX,
  PROMPTS_MAX,
  type PromptLimitReached,
  changePrompt,
  clonePrompt,
  createPrompt,
  deletePrompt,
} from '../../customers/prompts/prompts.ts'
import { findProviderFault } from '../../gateway/calls/routing/route-choice.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { actorOf } from '../rest/authenticate.ts'
import {
  PARAMETERS_BYTES_MAX,
  prompt,
  promptChange,
  promptInput,
  promptParams,
  TAG_LENGTH_MAX,
} from './prompt-body.ts'
import { answer, isStorableJson, uuid, wholeNumber, storedText } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db' | 'catalog'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const PROMPT_LIMITS = ['too_many_prompts', 'prompts_too_large'] as const

const FOR_ALL = {
  tag: 'Prompts',
  access: 'account',
  params: promptParams,
  refusals: { 404: ['prompt_not_found'] },
} as const

const listAndCreate = [
  restRoute({
    method: 'GET',
    path: '/me/prompts',
    tag: 'Prompts',
    summary: 'Os prompts salvos, o último alterado primeiro',
    access: 'account',
    query: {
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
      tag: Type.Optional(storedText(1, TAG_LENGTH_MAX, 'Só os que têm esta tag.')),
      q: Type.Optional(storedText(1, 120, 'Procura no nome e na descrição.')),
    },
    answer: answer({ prompts: Type.Array(prompt), next_cursor: nextCursor }),
    async handle({ caller, query }, deps: Deps) {
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
  }),
  restRoute({
    method: 'POST',
    path: '/me/prompts',
    tag: 'Prompts',
    summary: 'Salva um prompt',
    repeats: 'in_transaction',
    access: 'account',
    body: promptInput,
    status: 201,
    answer: prompt,
    refusals: { 409: PROMPT_LIMITS },
    async handle({ caller, body }, deps: Deps) {
      checkPreset(deps.catalog, body)
      const input = { ...fieldsOf(body), name: body.name, body: body.body }
      return promptBody(sound(await createPrompt(deps.db, caller.customerId, input)))
    },
  }),
]

export const promptRoutes = [
  ...listAndCreate,
  restRoute({
    ...FOR_ALL,
    method: 'GET',
    path: '/me/prompts/:id',
    summary: 'Um prompt salvo',
    answer: prompt,
    handle: async ({ caller, params }, deps: Deps) =>
      promptBody(found(await findPrompt(deps.db, caller.customerId, params.id))),
  }),
  restRoute({
    ...FOR_ALL,
    method: 'PATCH',
    path: '/me/prompts/:id',
    summary: 'Altera um prompt salvo; outro texto é outra versão',
    body: promptChange,
    answer: prompt,
    refusals: { ...FOR_ALL.refusals, 409: PROMPT_LIMITS },
    async handle({ caller, params, body }, deps: Deps) {
      checkPreset(deps.catalog, body)
      const change = { ...fieldsOf(body), changeNote: body.change_note }
      const changed = await changePrompt(deps.db, caller.customerId, params.id, change)
      return promptBody(sound(found(changed)))
    },
  }),
  restRoute({
    ...FOR_ALL,
    method: 'DELETE',
    path: '/me/prompts/:id',
    summary: 'Apaga um prompt salvo e as suas versões',
    answer: answer({ id: uuid, deleted: Type.Literal(true) }),
    async handle({ caller, params }, deps: Deps) {
      const { customerId } = caller
      const id = params.id.toLowerCase()
      if (!(await deletePrompt(deps.db, actorOf(caller), { customerId, id })))
        throw new RestRefusal(404, 'prompt_not_found')
      return { id, deleted: true as const }
    },
  }),
  restRoute({
    ...FOR_ALL,
    method: 'POST',
    path: '/me/prompts/:id/clone',
    summary: 'Copia um prompt salvo, sem o seu histórico',
    repeats: 'in_transaction',
    status: 201,
    answer: prompt,
    refusals: { ...FOR_ALL.refusals, 409: PROMPT_LIMITS },
    handle: async ({ caller, params }, deps: Deps) =>
      promptBody(sound(found(await clonePrompt(deps.db, caller.customerId, params.id)))),
  }),
]

/** A preset names a model of the catalog, and so no other preset. */
function checkPreset(
  catalog: Catalog,
  { default_model: id, parameters = {} }: Static<typeof promptChange>,
): void {
  const fault = findProviderFault(parameters)
  if (fault !== undefined)
    throw new RestRefusal(400, 'invalid_request', `parameters.provider: ${fault}`)
  if (!isStorableJson(parameters))
    throw new RestRefusal(400, 'invalid_request', 'parameters: tem caracteres inválidos')
  if (Buffer.byteLength(JSON.stringify(parameters)) > PARAMETERS_BYTES_MAX)
    throw new RestRefusal(
      400,
      'invalid_request',
      `parameters: no máximo ${PARAMETERS_BYTES_MAX} bytes`,
    )
  if (id === null || id === undefined) return
  if (catalog.findModel(id)?.category !== 'llm')
    throw new RestRefusal(
      400,
      'invalid_request',
      'default_model: não é um modelo de chat do catálogo',
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

function sound(result: Prompt | VariablesFault | PromptLimitReached): Prompt {
  if (!('kind' in result)) return result
  if (result.kind === 'too_many_prompts')
    throw new RestRefusal(409, result.kind, `no máximo ${PROMPTS_MAX}`)
  if (result.kind === 'prompts_too_large')
    throw new RestRefusal(
      409,
      result.kind,
      `todas as versões de todos os prompts: no máximo ${PROMPT_BYTES_MAX} bytes`,
    )
  const what =
    result.kind === 'undeclared_variable'
      ? `variables: ${result.name} está no texto e não foi declarada`
      : `body: tem mais de ${VARIABLES_MAX} variáveis`
  throw new RestRefusal(400, 'invalid_request', what)
}

function promptBody(saved: Prompt): AnswerOf<typeof prompt> {
  return {
    id: saved.id,
    slug: saved.slug,
    name: saved.name,
    description: saved.description,
    body: saved.body,
    variables: saved.variables,
    tags: saved.tags,
    default_model: saved.defaultModel,
    parameters: saved.parameters,
    version: saved.version,
    created_at: saved.createdAt.toISOString(),
    updated_at: saved.updatedAt.toISOString(),
  }
}

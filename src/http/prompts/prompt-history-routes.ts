import Type from 'typebox'
import {
  listPromptVersions,
  type PromptVersion,
  findPrompt,
} from '../../customers/prompts/read-prompts.ts'
import { listPromptRuns, type PromptRun } from '../../customers/prompts/prompt-runs.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import { promptParams, promptRun, promptVersion } from './prompt-body.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const VERSIONS_DEFAULT = 50
const VERSIONS_MAX = 200
const RUNS_DEFAULT = 20
const RUNS_MAX = 100

const FOR_ALL = {
  method: 'GET',
  tag: 'Prompts',
  access: 'account',
  params: promptParams,
  refusals: { 404: ['prompt_not_found'] },
} as const

/** The versions of a prompt, and its runs. */
export const promptHistoryRoutes = [
  restRoute({
    ...FOR_ALL,
    path: '/me/prompts/:id/versions',
    summary: 'As versões de um prompt, da mais nova à primeira',
    query: { limit: wholeNumber(1, VERSIONS_MAX, VERSIONS_DEFAULT), cursor },
    answer: answer({ versions: Type.Array(promptVersion), next_cursor: nextCursor }),
    async handle({ caller, params, query }, deps: Deps) {
      const { limit = VERSIONS_DEFAULT } = query
      const below = readVersionCursor(query.cursor)
      const { id } = await getPrompt(deps, caller.customerId, params.id)
      const versions = await listPromptVersions(deps.db, id, { below, limit: limit + 1 })
      const page = versions.slice(0, limit)
      const last = page.at(-1)
      return {
        versions: page.map(versionBody),
        next_cursor: last && versions.length > limit ? writeVersionCursor(last.version) : null,
      }
    },
  }),
  restRoute({
    ...FOR_ALL,
    path: '/me/prompts/:id/runs',
    summary: 'As execuções cobradas de um prompt, por sessão, da mais nova à mais antiga',
    query: { limit: wholeNumber(1, RUNS_MAX, RUNS_DEFAULT) },
    answer: answer({ runs: Type.Array(promptRun) }),
    async handle({ caller, params, query }, deps: Deps) {
      const { limit = RUNS_DEFAULT } = query
      const { id } = await getPrompt(deps, caller.customerId, params.id)
      const runs = await listPromptRuns(deps.db, caller.customerId, id, limit)
      return { runs: runs.map(runBody) }
    },
  }),
]

async function getPrompt(deps: Deps, customerId: string, id: string): Promise<{ id: string }> {
  const saved = await findPrompt(deps.db, customerId, id)
  if (!saved) throw new RestRefusal(404, 'prompt_not_found')
  return saved
}

/** Versions are sorted by number, so the number is the cursor's position. */
function writeVersionCursor(version: number): string {
  return Buffer.from(`v${version}`).toString('base64url')
}

function readVersionCursor(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, version] = /^v(\d{1,9})$/.exec(Buffer.from(text, 'base64url').toString()) ?? []
  if (version === undefined)
    throw new RestRefusal(400, 'invalid_request', 'cursor: não é conhecido')
  return Number(version)
}

function versionBody({
  version,
  body,
  changeNote,
  createdAt,
}: PromptVersion): AnswerOf<typeof promptVersion> {
  return { version, body, change_note: changeNote, created_at: createdAt.toISOString() }
}

function runBody(run: PromptRun): AnswerOf<typeof promptRun> {
  return {
    session_id: run.sessionId,
    request_count: run.requests,
    models: run.modelIds,
    total_prompt_tokens: run.promptTokens,
    total_completion_tokens: run.completionTokens,
    total_tokens: run.promptTokens + run.completionTokens,
    total_billed_brl: jsonBrl(run.costBilledNanoBrl),
    first_request_at: run.firstRequestAt.toISOString(),
    last_request_at: run.lastRequestAt.toISOString(),
  }
}
